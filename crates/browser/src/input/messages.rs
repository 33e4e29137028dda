//! What a viewer and the browser say to each other, as JSON on the wire.

use serde::{Deserialize, Serialize};

/// A place in the picture, 0 to 1 in both directions.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, Serialize)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// One thing that a viewer does. As JSON: `{"type": "wheel", "x": 0.5, ...}`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Input {
    /// The pointer moves, or one of its buttons.
    Mouse {
        /// What it does.
        kind: MouseKind,
        /// Where.
        #[serde(flatten)]
        at: Point,
        /// The button, as the DOM counts: 0 left, 1 middle, 2 right.
        #[serde(default)]
        button: u8,
        /// The buttons held now, as the DOM adds them up.
        #[serde(default)]
        buttons: u8,
        /// How often in a row.
        #[serde(default)]
        clicks: u8,
        /// Alt 1, Control 2, Meta 4, Shift 8.
        #[serde(default)]
        modifiers: u8,
    },
    /// The wheel turns.
    Wheel {
        /// Where.
        #[serde(flatten)]
        at: Point,
        /// CSS pixels to the right.
        dx: f64,
        /// CSS pixels down.
        dy: f64,
        /// As with the mouse.
        #[serde(default)]
        modifiers: u8,
    },
    /// A key goes down or up.
    Key {
        /// Which of the two.
        kind: KeyKind,
        /// Its DOM name: `a`, `Enter`.
        key: String,
        /// Its DOM code: `KeyA`.
        #[serde(default)]
        code: String,
        /// Its DOM `keyCode`.
        #[serde(default)]
        key_code: u8,
        /// As with the mouse.
        #[serde(default)]
        modifiers: u8,
        /// Held for long.
        #[serde(default)]
        repeat: bool,
    },
    /// Text is pasted, or comes from an input method.
    Text {
        /// The text.
        text: String,
    },
    /// What is selected is asked for.
    Copy,
    /// An option of the select list that was shown last.
    Choose {
        /// From 0.
        index: u32,
    },
    /// The dialog of the page is answered.
    Dialog {
        /// Yes, or no.
        accept: bool,
        /// What was put into the field of a `prompt`.
        #[serde(default)]
        text: String,
    },
    /// A tab becomes the current one.
    Tab {
        /// Its id.
        id: String,
    },
    /// A tab is closed.
    CloseTab {
        /// Its id.
        id: String,
    },
    /// A tab is opened.
    NewTab,
    /// One step back.
    Back,
    /// One step forward.
    Forward,
    /// Once more.
    Reload,
    /// To an address.
    Go {
        /// As it was typed: `https:` is added where nothing is.
        url: String,
    },
}

/// What a pointer does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MouseKind {
    /// Moves.
    Move,
    /// A button goes down.
    Down,
    /// A button goes up.
    Up,
}

/// What a key does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyKind {
    /// It goes down.
    Down,
    /// It goes up.
    Up,
}

/// What an input brings for the viewer whose it is.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Reply {
    /// A select list to draw.
    Select(SelectList),
    /// What was selected.
    Copied {
        /// As plain text.
        text: String,
    },
    /// Something for the viewer to read.
    Notice {
        /// A sentence.
        text: String,
    },
}

/// An open select list.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SelectList {
    /// Its options, at most [`MAX_SELECT_OPTIONS`](crate::limits::MAX_SELECT_OPTIONS).
    pub options: Vec<SelectOption>,
    /// The chosen one; -1 for none.
    pub selected: i64,
    /// Its upper left corner in the picture.
    pub at: Point,
    /// Its size in the picture.
    pub size: Point,
}

/// One option.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SelectOption {
    /// What stands there.
    pub label: String,
    /// The group that it is in; empty for none.
    pub group: String,
    /// It cannot be chosen.
    pub disabled: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn inputs_are_read_from_json() {
        let check = |json: Value, expected: Option<Input>| {
            assert_eq!(
                serde_json::from_value::<Input>(json.clone()).ok(),
                expected,
                "{json}"
            );
        };
        let at = Point { x: 0.5, y: 0.25 };
        check(
            json!({"type": "mouse", "kind": "down", "x": 0.5, "y": 0.25, "buttons": 1, "clicks": 2, "modifiers": 8}),
            Some(Input::Mouse {
                kind: MouseKind::Down,
                at,
                button: 0,
                buttons: 1,
                clicks: 2,
                modifiers: 8,
            }),
        );
        check(
            json!({"type": "wheel", "x": 0.5, "y": 0.25, "dx": 0, "dy": -120}),
            Some(Input::Wheel {
                at,
                dx: 0.0,
                dy: -120.0,
                modifiers: 0,
            }),
        );
        check(
            json!({"type": "key", "kind": "up", "key": "a", "code": "KeyA", "keyCode": 65}),
            Some(Input::Key {
                kind: KeyKind::Up,
                key: "a".to_owned(),
                code: "KeyA".to_owned(),
                key_code: 65,
                modifiers: 0,
                repeat: false,
            }),
        );
        check(
            json!({"type": "closeTab", "id": "x"}),
            Some(Input::CloseTab { id: "x".to_owned() }),
        );
        check(json!({"type": "newTab"}), Some(Input::NewTab));
        for wrong in [
            json!({"type": "eval"}),
            json!({"type": "mouse"}),
            json!([]),
            json!({"type": "go"}),
        ] {
            check(wrong, None);
        }
    }
}
