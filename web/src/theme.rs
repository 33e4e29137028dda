//! How the console looks: colour scheme (the system's, or a choice) and density, kept on this device.

use leptos::prelude::document;
use serde::{Deserialize, Serialize};

use crate::storage;

/// A choice of colour scheme.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// Every choice.
    pub const ALL: [Theme; 3] = [Theme::System, Theme::Light, Theme::Dark];

    /// The choice kept on this device.
    pub fn stored() -> Self {
        storage::read("theme").unwrap_or_default()
    }

    /// Shows and keeps it.
    pub fn choose(self) {
        storage::write("theme", &self);
        let Some(root) = document().document_element() else {
            return;
        };
        let _ = match self {
            Theme::System => root.remove_attribute("data-theme"),
            Theme::Light => root.set_attribute("data-theme", "light"),
            Theme::Dark => root.set_attribute("data-theme", "dark"),
        };
    }

    /// The next one, for the switch in the top bar.
    pub fn next(self) -> Self {
        match self {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        }
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Theme::System => "System",
            Theme::Light => "Light",
            Theme::Dark => "Dark",
        }
    }
}

/// How close things stand.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// With room around everything.
    #[default]
    Comfortable,
    /// More on one screen.
    Compact,
}

impl Density {
    /// Every choice.
    pub const ALL: [Density; 2] = [Density::Comfortable, Density::Compact];

    /// The choice kept on this device.
    pub fn stored() -> Self {
        storage::read("density").unwrap_or_default()
    }

    /// Shows and keeps it.
    pub fn choose(self) {
        storage::write("density", &self);
        let Some(root) = document().document_element() else {
            return;
        };
        let _ = match self {
            Density::Comfortable => root.remove_attribute("data-density"),
            Density::Compact => root.set_attribute("data-density", "compact"),
        };
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Density::Comfortable => "Comfortable",
            Density::Compact => "Compact",
        }
    }
}
