//! `harvestman doctor`: reports which components of this machine the server can use, and what to do about the others.

use std::fmt;
use std::path::{Path, PathBuf};

use harvestman_browser::{
    check_node_packages, check_python_packages, check_sandbox, find_chromium, is_supported_node,
    program_version,
};
use harvestman_engine::missing_languages;
use harvestman_store::{DATABASE_FILE, KEY_FILE, KeyState, postgres_versions, schema_version};

use crate::config::secret_keys::MISSING_KEY;
use crate::config::{Config, Program};
use crate::{disk, driver, limits};

/// Whether the server can use a component.
#[derive(Clone, PartialEq, Eq, Debug)]
enum ComponentState {
    Works,
    /// The operator has switched it off.
    Off,
    /// The server works without it, with fewer features.
    Missing,
    /// The server does not start, or it starts and fails when it uses the component.
    Broken,
}

/// A component of the machine that the server uses.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Component {
    name: &'static str,
    state: ComponentState,
    /// Version and path.
    found: String,
    /// What does not work without it, and what to do.
    advice: String,
}

impl Component {
    fn works(name: &'static str, found: impl Into<String>) -> Component {
        Component {
            name,
            state: ComponentState::Works,
            found: found.into(),
            advice: String::new(),
        }
    }

    fn fails(
        name: &'static str,
        state: ComponentState,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Component {
        Component {
            name,
            state,
            found: found.into(),
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            ComponentState::Works => "ok",
            ComponentState::Off => "off",
            ComponentState::Missing => "missing",
            ComponentState::Broken => "broken",
        };
        writeln!(f, "{state:8} {:15} {}", self.name, self.found)?;
        match self.advice.is_empty() {
            true => Ok(()),
            false => writeln!(f, "{:24} {}", "", self.advice),
        }
    }
}

/// Examines the machine, and returns the report and whether the server can start.
pub(crate) async fn report(config: &Config) -> (String, bool) {
    let components = [
        data_folder(&config.data_dir),
        database(config).await,
        secret_key(config).await,
        chromium(config).await,
        sandbox(config).await,
        node(config).await,
        python(config).await,
        tesseract(config).await,
    ];
    let works = components
        .iter()
        .all(|component| component.state != ComponentState::Broken);
    (components.iter().map(Component::to_string).collect(), works)
}

fn data_folder(folder: &Path) -> Component {
    const NAME: &str = "data folder";
    let found = folder.display().to_string();
    if !folder.exists() {
        return Component::works(NAME, format!("{found} (created when the server starts)"));
    }
    let probe = folder.join(format!("harvestman.probe.{}", std::process::id()));
    match std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe)) {
        Ok(()) => Component::works(NAME, format!("{found}, {} free", disk::free_space(folder))),
        Err(error) => {
            let advice = format!(
                "cannot write to it: {error}. Change its owner, or set another folder with --data-dir"
            );
            Component::fails(NAME, ComponentState::Broken, found, advice)
        }
    }
}

async fn database(config: &Config) -> Component {
    const NAME: &str = "database";
    if let Some(url) = &config.database_url {
        return match postgres_versions(url).await {
            Ok((server, schema)) => {
                let schema = schema.map_or_else(
                    || "created when the server starts".to_owned(),
                    |schema| schema.to_string(),
                );
                Component::works(NAME, format!("PostgreSQL {server}, schema {schema}"))
            }
            Err(error) => Component::fails(
                NAME,
                ComponentState::Broken,
                "PostgreSQL".to_owned(),
                error.to_string(),
            ),
        };
    }
    let folder = &config.data_dir;
    let path = folder.join(DATABASE_FILE).display().to_string();
    match schema_version(folder).await {
        Ok(None) => Component::works(NAME, format!("{path} (created when the server starts)")),
        Ok(Some(version)) => Component::works(NAME, format!("schema {version}, {path}")),
        Err(error) => Component::fails(NAME, ComponentState::Broken, path, error.to_string()),
    }
}

async fn secret_key(config: &Config) -> Component {
    const NAME: &str = "secret key";
    let found = match config.secret_keys.current {
        Some(_) => "from the settings".to_owned(),
        None => config.data_dir.join(KEY_FILE).display().to_string(),
    };
    match KeyState::of(&config.store()).await {
        Ok(KeyState::Known) if config.secret_keys.current.is_none() && config.shares_key() => {
            Component::works(NAME, "derived from the cluster secret")
        }
        Ok(KeyState::Known) => Component::works(NAME, found),
        Ok(KeyState::New) => Component::works(NAME, format!("{found} (created when the server starts)")),
        Ok(KeyState::None) => {
            let advice = "webhook secrets, request headers and browser profiles are stored unencrypted: set \
                          HARVESTMAN_SECRET_KEY";
            Component::fails(NAME, ComponentState::Missing, "", advice)
        }
        Ok(KeyState::Missing) => Component::fails(NAME, ComponentState::Missing, found, MISSING_KEY),
        Err(error) => Component::fails(NAME, ComponentState::Broken, found, error.to_string()),
    }
}

/// Examines a program that the operator may have configured or switched off.
async fn program(
    name: &'static str,
    configured: &Program,
    found: Option<PathBuf>,
    without: &str,
) -> Result<(Component, PathBuf), Component> {
    let path = match configured {
        Program::Off => return Err(Component::fails(name, ComponentState::Off, "", without)),
        Program::File(path) => Some(path.clone()),
        Program::Installed => found,
    };
    let path = path.ok_or_else(|| Component::fails(name, ComponentState::Missing, "", without))?;
    match program_version(&path).await {
        Ok(version) => Ok((
            Component::works(name, format!("{version}, {}", path.display())),
            path,
        )),
        Err(reason) => Err(Component::fails(
            name,
            ComponentState::Broken,
            path.display().to_string(),
            reason,
        )),
    }
}

async fn chromium(config: &Config) -> Component {
    let without = "no screenshots, actions, browser sessions, or pages that need scripts: install chromium, or \
                   set its path in HARVESTMAN_CHROMIUM";
    let found = program("Chromium", &config.chromium, find_chromium(), without).await;
    found.map_or_else(|component| component, |(component, _)| component)
}

async fn sandbox(config: &Config) -> Component {
    const NAME: &str = "bubblewrap";
    match check_sandbox().await {
        Ok(path) => match program_version(&path).await {
            Ok(version) => Component::works(NAME, format!("{version}, {}", path.display())),
            Err(reason) => Component::fails(NAME, ComponentState::Broken, path.display().to_string(), reason),
        },
        Err(reason) => {
            let code = match config.unsandboxed_code {
                true => "code in browser sessions runs with the server's permissions",
                false => "code in browser sessions is refused",
            };
            let advice = format!("{code}: {reason}. Install bubblewrap and allow user namespaces");
            Component::fails(NAME, ComponentState::Missing, "", advice)
        }
    }
}

async fn node(config: &Config) -> Component {
    let without = "no JavaScript in browser sessions: install Node.js 20 or newer (`harvestman setup` can), or set its path in \
         HARVESTMAN_NODE";
    let (component, path) = match program("Node.js", &config.node, config.node_program(), without).await {
        Ok(found) => found,
        Err(component) => return component,
    };
    if !is_supported_node(&component.found) {
        return Component::fails(component.name, ComponentState::Missing, component.found, without);
    }
    if let Some(version) = driver::version() {
        return Component::works(
            component.name,
            format!("{}, with its own playwright-core {version}", component.found),
        );
    }
    let folders = [config.data_dir.join(limits::NODE_MODULES_FOLDER)];
    match check_node_packages(&path, &folders).await {
        Ok(package) => Component::works(
            component.name,
            format!("{}, with {}", component.found, package.display()),
        ),
        Err(reason) => {
            let found = format!("for Node.js {}", component.found);
            Component::fails("playwright-core", ComponentState::Missing, found, reason)
        }
    }
}

async fn tesseract(config: &Config) -> Component {
    let without = "no text recognition in images and scans: install tesseract-ocr, or set its path in HARVESTMAN_TESSERACT";
    let (component, path) = match program(
        "tesseract",
        &config.tesseract,
        config.tesseract_program(),
        without,
    )
    .await
    {
        Ok(found) => found,
        Err(component) => return component,
    };
    let missing = match missing_languages(&path, &config.ocr_languages).await {
        Ok(missing) => missing,
        Err(reason) => {
            return Component::fails(component.name, ComponentState::Broken, component.found, reason);
        }
    };
    if missing.is_empty() {
        return Component::works(
            component.name,
            format!("{}, languages {}", component.found, config.ocr_languages),
        );
    }
    let advice = format!(
        "no data for the language {}: install it (Debian: tesseract-ocr-{}), or change HARVESTMAN_OCR_LANGUAGES",
        missing.join(", "),
        missing[0].replace('_', "-")
    );
    Component::fails(component.name, ComponentState::Missing, component.found, advice)
}

async fn python(config: &Config) -> Component {
    let without = "no Python in browser sessions: install Python 3.9 or newer (`harvestman setup` can), or set its path in \
         HARVESTMAN_PYTHON";
    let (component, path) = match program("Python", &config.python, config.python_program(), without).await {
        Ok(found) => found,
        Err(component) => return component,
    };
    match check_python_packages(&path).await {
        Ok(()) => Component::works(component.name, format!("{}, with playwright", component.found)),
        Err(reason) => {
            let found = format!("for {}", component.found);
            Component::fails("playwright", ComponentState::Missing, found, reason)
        }
    }
}
