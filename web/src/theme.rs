//! Color scheme and density of the console, stored in this browser.

use leptos::prelude::document;
use serde::{Deserialize, Serialize};

use crate::storage;

/// A color scheme.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Follows the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// Every color scheme.
    pub const ALL: [Theme; 3] = [Theme::System, Theme::Light, Theme::Dark];

    /// Returns the stored choice, or the default.
    pub fn from_storage() -> Self {
        storage::read("theme").unwrap_or_default()
    }

    /// Applies and stores the choice.
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

    /// Returns the next color scheme, for the button in the top bar.
    pub fn next(self) -> Self {
        match self {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        }
    }

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Theme::System => "System",
            Theme::Light => "Light",
            Theme::Dark => "Dark",
        }
    }
}

/// Spacing of the layout.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// Generous spacing.
    #[default]
    Comfortable,
    /// Less spacing, to fit more on the screen.
    Compact,
}

impl Density {
    /// Every density.
    pub const ALL: [Density; 2] = [Density::Comfortable, Density::Compact];

    /// Returns the stored choice, or the default.
    pub fn from_storage() -> Self {
        storage::read("density").unwrap_or_default()
    }

    /// Applies and stores the choice.
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

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Density::Comfortable => "Comfortable",
            Density::Compact => "Compact",
        }
    }
}
