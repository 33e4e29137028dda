//! The id of a result in the URL of its screen, so that reloading the screen or going back shows the result again.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::route::Screen;

/// Shows another URL of the console.
type Navigate = Box<dyn Fn(&str, NavigateOptions)>;

/// The id of a screen's result. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
pub struct ResultUrl {
    screen: Screen,
    /// Id of the result on screen, so that writing it to the URL does not load it again.
    shown: StoredValue<Option<String>>,
    navigate: StoredValue<Navigate, LocalStorage>,
}

impl ResultUrl {
    /// Calls `load` with each id in the URL whose result is not on screen.
    pub fn new(screen: Screen, load: impl Fn(String) + 'static) -> Self {
        let shown = StoredValue::new(None);
        let query = screen.query();
        let id = Memo::new(move |_| query.with(|query| query.get("id")));
        Effect::new(move |_| {
            let is_new = |id: &String| shown.with_value(|shown| shown.as_ref() != Some(id));
            if let Some(id) = id.get().filter(is_new) {
                shown.set_value(Some(id.clone()));
                load(id);
            }
        });
        Self {
            screen,
            shown,
            navigate: StoredValue::new_local(Box::new(use_navigate())),
        }
    }

    /// Writes the id of the result on screen to the URL.
    pub fn write(self, id: &str) {
        self.shown.try_set_value(Some(id.to_owned()));
        let options = NavigateOptions {
            scroll: false,
            ..Default::default()
        };
        let url = format!("{}?id={id}", self.screen.path());
        self.navigate.try_with_value(|navigate| navigate(&url, options));
    }
}
