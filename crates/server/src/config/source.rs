//! Sources of setting values: flags override the environment, which overrides the file, which overrides defaults.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::ConfigError;
use super::nearest::nearest;
use super::setting::{PLAN_SETTINGS, SETTINGS, Setting, setting};
use crate::request::api_client;

/// File that is read from the working folder without `--config`.
pub const FILE_NAME: &str = "harvestman.toml";

/// Table of the file that contains the plans.
pub const PLANS: &str = "plans";

/// Source of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The command line.
    Flag,
    /// The environment variable of the setting.
    Environment,
    /// A file.
    File(PathBuf),
    /// The table of settings.
    Default,
}

impl Origin {
    /// Returns the name of the source for error messages.
    pub fn describe(&self, setting: &Setting) -> String {
        match self {
            Origin::Flag => format!("--{}", setting.flag()),
            Origin::Environment => setting.environment(),
            Origin::File(path) => format!("{} in {}", setting.key, path.display()),
            Origin::Default => format!("the default of {}", setting.key),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => f.write_str("flag"),
            Origin::Environment => f.write_str("environment"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// Texts of settings by their keys.
type Texts = BTreeMap<&'static str, (String, Origin)>;

/// Values of settings as text, each with its origin. Settings without a value are absent.
#[derive(Clone, Debug, Default)]
pub struct Values {
    values: Texts,
    /// Values that each plan overrides.
    plans: BTreeMap<String, Texts>,
}

impl Values {
    /// Collects the values of all sources. `flags` and `environment` look up one setting at a time.
    ///
    /// # Errors
    /// A `file` that is missing or invalid. Without `file`, [`FILE_NAME`] is read if it exists.
    pub fn gather(
        flags: impl Fn(&Setting) -> Option<String>,
        environment: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
    ) -> Result<Values, ConfigError> {
        let from_file = match file {
            Some(path) => read(path)?,
            None if Path::new(FILE_NAME).is_file() => read(Path::new(FILE_NAME))?,
            None => FileSettings::default(),
        };
        let mut values = BTreeMap::new();
        for setting in SETTINGS {
            let from_environment = environment_value(setting, &environment)?;
            let value = flags(setting)
                .map(|text| (text, Origin::Flag))
                .or_else(|| from_environment.map(|text| (text, Origin::Environment)))
                .or_else(|| from_file.values.get(setting.key).cloned())
                .or_else(|| setting.default.map(|text| (text.to_owned(), Origin::Default)));
            if let Some(value) = value {
                values.insert(setting.key, value);
            }
        }
        let plans = from_file.plans;
        Ok(Values { values, plans })
    }

    /// Returns each plan with its own values, and the general values for settings it does not override.
    pub fn plans(&self) -> impl Iterator<Item = (&str, Values)> {
        self.plans.iter().map(|(name, own)| {
            let mut values = self.values.clone();
            values.extend(own.clone());
            let plans = BTreeMap::new();
            (name.as_str(), Values { values, plans })
        })
    }

    /// Returns the values that a plan overrides, in the order of the table.
    pub fn plan_overrides<'v>(
        &'v self,
        plan: &str,
    ) -> impl Iterator<Item = (&'static str, &'v str, &'v Origin)> {
        let own = self.plans.get(plan);
        PLAN_SETTINGS.iter().filter_map(move |key| {
            let (text, origin) = own?.get(key)?;
            Some((*key, text.as_str(), origin))
        })
    }

    /// Returns the value and origin of a setting.
    pub fn of(&self, key: &str) -> Option<(&str, &Origin)> {
        self.values.get(key).map(|(text, origin)| (text.as_str(), origin))
    }
}

/// Returns the value of a variable. The value of a secret may also come from the file that its `_FILE` variable names.
fn environment_value(
    setting: &Setting,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, ConfigError> {
    let variable = |name: &str| environment(name).filter(|text| !text.is_empty());
    let (name, file_name) = (setting.environment(), setting.file_environment());
    let path = file_name.as_deref().and_then(variable);
    match (variable(&name), file_name, path) {
        (Some(_), Some(file_name), Some(_)) => Err(ConfigError(format!(
            "both {name} and {file_name} are set; set one of them"
        ))),
        (None, Some(file_name), Some(path)) => std::fs::read_to_string(&path)
            .map(|text| Some(text.trim_end_matches(['\r', '\n']).to_owned()).filter(|text| !text.is_empty()))
            .map_err(|error| ConfigError(format!("{file_name}: cannot read {path}: {error}"))),
        (text, _, _) => Ok(text),
    }
}

/// Returns the sorted names of non-empty `HARVESTMAN_` variables that this version does not read. Variables of the
/// request commands are not reported.
pub fn unknown_variables(environment: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut names: Vec<String> = environment
        .filter(|(name, value)| name.starts_with("HARVESTMAN_") && !value.is_empty())
        .map(|(name, _)| name)
        .filter(|name| {
            !SETTINGS.iter().any(|setting| {
                setting.environment() == *name || setting.file_environment().as_ref() == Some(name)
            })
        })
        .filter(|name| !api_client::reads(name))
        .collect();
    names.sort();
    names
}

/// Contents of a settings file.
#[derive(Default)]
struct FileSettings {
    values: Texts,
    plans: BTreeMap<String, Texts>,
}

fn read(path: &Path) -> Result<FileSettings, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError(format!("cannot read {}: {error}", path.display())))?;
    let table: toml::Table = text
        .parse()
        .map_err(|error| ConfigError(format!("{} is not valid TOML: {error}", path.display())))?;
    let mut settings = FileSettings::default();
    let all_keys: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
    for (key, value) in &table {
        if key == PLANS {
            let plans = value.as_table().ok_or_else(|| invalid_plans(path))?;
            for (name, plan) in plans {
                let plan = plan.as_table().ok_or_else(|| invalid_plans(path))?;
                let location = format!("[{PLANS}.{name}] of {}", path.display());
                let mut own = Texts::new();
                for (key, value) in plan {
                    let (key, text) = parse_entry(key, value, PLAN_SETTINGS, &location)?;
                    own.insert(key, (text, Origin::File(path.to_owned())));
                }
                settings.plans.insert(name.clone(), own);
            }
            continue;
        }
        let (key, text) = parse_entry(key, value, &all_keys, &path.display().to_string())?;
        settings.values.insert(key, (text, Origin::File(path.to_owned())));
    }
    Ok(settings)
}

fn invalid_plans(path: &Path) -> ConfigError {
    ConfigError(format!(
        "`{PLANS}` in {} is not a table of plans; write [{PLANS}.NAME] and the limits of the plan below it",
        path.display()
    ))
}

/// Returns the setting with this key and its value as text, if it is allowed here. `location` is for error messages.
fn parse_entry(
    key: &str,
    value: &toml::Value,
    allowed: &[&'static str],
    location: &str,
) -> Result<(&'static str, String), ConfigError> {
    let Some(setting) = setting(key).filter(|setting| allowed.contains(&setting.key)) else {
        let hint = nearest(key, allowed.iter().copied())
            .map(|name| format!("; did you mean `{name}`?"))
            .unwrap_or_default();
        return Err(ConfigError(format!(
            "unknown setting `{key}` in {location}{hint}"
        )));
    };
    let text = value_text(value).ok_or_else(|| {
        ConfigError(format!(
            "`{key}` in {location} must be a string, number, boolean, or list of these"
        ))
    })?;
    Ok((setting.key, text))
}

/// Formats a TOML value as in an environment variable.
fn value_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(switch) => Some(switch.to_string()),
        toml::Value::Array(items) => Some(
            items
                .iter()
                .map(value_text)
                .collect::<Option<Vec<_>>>()?
                .join(","),
        ),
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}
