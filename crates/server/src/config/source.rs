//! Where the values of settings come from: flag before environment before file before default.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::ConfigError;
use super::nearest::nearest;
use super::setting::{SETTINGS, Setting, setting};

/// The file that is read from the working folder when `--config` names no other.
pub const FILE_NAME: &str = "harvestman.toml";

/// Who said a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The command line.
    Flag,
    /// The environment variable of the setting.
    Environment,
    /// A file.
    File(PathBuf),
    /// Nobody; the table of settings has it.
    Default,
}

impl Origin {
    /// The place as the operator would name it.
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

/// Values of settings as text, each with its origin. Settings without a value are absent.
#[derive(Clone, Debug, Default)]
pub struct Values {
    values: BTreeMap<&'static str, (String, Origin)>,
}

impl Values {
    /// Gathers all sources. `flags` and `environment` answer for one setting at a time; `file` is
    /// the one named by the operator, who is told when it is missing.
    pub fn gather(
        flags: impl Fn(&Setting) -> Option<String>,
        environment: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
    ) -> Result<Values, ConfigError> {
        let from_file = match file {
            Some(path) => read(path)?,
            None if Path::new(FILE_NAME).is_file() => read(Path::new(FILE_NAME))?,
            None => BTreeMap::new(),
        };
        let mut values = BTreeMap::new();
        for setting in SETTINGS {
            let said = flags(setting)
                .map(|text| (text, Origin::Flag))
                .or_else(|| {
                    let text = environment(&setting.environment()).filter(|text| !text.is_empty());
                    text.map(|text| (text, Origin::Environment))
                })
                .or_else(|| from_file.get(setting.key).cloned())
                .or_else(|| setting.default.map(|text| (text.to_owned(), Origin::Default)));
            if let Some(said) = said {
                values.insert(setting.key, said);
            }
        }
        Ok(Values { values })
    }

    /// Value and origin of a setting.
    pub fn of(&self, key: &str) -> Option<(&str, &Origin)> {
        self.values.get(key).map(|(text, origin)| (text.as_str(), origin))
    }
}

/// Variables that look like settings and are none of this version, so that the operator hears that
/// they do nothing. Empty ones are not worth a word.
pub fn unread(environment: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut names: Vec<String> = environment
        .filter(|(name, value)| name.starts_with("HARVESTMAN_") && !value.is_empty())
        .map(|(name, _)| name)
        .filter(|name| !SETTINGS.iter().any(|setting| setting.environment() == *name))
        .collect();
    names.sort();
    names
}

fn read(path: &Path) -> Result<BTreeMap<&'static str, (String, Origin)>, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError(format!("cannot read {}: {error}", path.display())))?;
    let table: toml::Table = text
        .parse()
        .map_err(|error| ConfigError(format!("{} is not valid TOML: {error}", path.display())))?;
    let mut values = BTreeMap::new();
    for (key, value) in &table {
        let Some(setting) = setting(key) else {
            let known = SETTINGS.iter().map(|setting| setting.key);
            let hint = nearest(key, known)
                .map(|name| format!("; did you mean `{name}`?"))
                .unwrap_or_default();
            return Err(ConfigError(format!(
                "unknown setting `{key}` in {}{hint}",
                path.display()
            )));
        };
        let text = plain(value).ok_or_else(|| {
            ConfigError(format!(
                "`{key}` in {} is neither text, number, true or false, nor a list of these",
                path.display()
            ))
        })?;
        values.insert(setting.key, (text, Origin::File(path.to_owned())));
    }
    Ok(values)
}

/// A TOML value as one would write it in the environment.
fn plain(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(switch) => Some(switch.to_string()),
        toml::Value::Array(items) => Some(items.iter().map(plain).collect::<Option<Vec<_>>>()?.join(",")),
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}
