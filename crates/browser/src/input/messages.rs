//! The JSON messages between a viewer and the live view.

use serde::{Deserialize, Serialize};

/// A position in the picture, 0 to 1 in both directions.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, Serialize)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// One input of a viewer. As JSON: `{"type": "wheel", "x": 0.5, ...}`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Input {
    /// The mouse moves, or one of its buttons changes.
    Mouse(MouseInput),
    /// Request for a selector of the element at a position.
    Inspect {
        /// Position.
        #[serde(flatten)]
        at: Point,
    },
    /// The wheel is turned.
    Wheel {
        /// Position.
        #[serde(flatten)]
        at: Point,
        /// Distance to the right in CSS pixels.
        dx: f64,
        /// Distance down in CSS pixels.
        dy: f64,
        /// As for the mouse.
        #[serde(default)]
        modifiers: u8,
    },
    /// A key is pressed or released.
    Key(KeyInput),
    /// Text is pasted, or entered with an input method.
    Text {
        /// The text.
        text: String,
    },
    /// Request for the selected text.
    Copy,
    /// An option of the last select list is chosen.
    Choose {
        /// Index of the option, from 0.
        index: u32,
    },
    /// A dialog of the page is answered.
    Dialog {
        /// Whether the dialog is accepted.
        accept: bool,
        /// Text entered in a `prompt` dialog.
        #[serde(default)]
        text: String,
    },
    /// Switch to a tab.
    Tab {
        /// Id of the tab.
        id: String,
    },
    /// Close a tab.
    CloseTab {
        /// Id of the tab.
        id: String,
    },
    /// Open a tab.
    NewTab,
    /// Go back in the history.
    Back,
    /// Go forward in the history.
    Forward,
    /// Reload the page.
    Reload,
    /// Open a URL.
    Go {
        /// The URL as typed; `https:` is added if the scheme is missing.
        url: String,
    },
}

/// An event of the mouse.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct MouseInput {
    /// Kind of the mouse event.
    pub kind: MouseKind,
    /// Position.
    #[serde(flatten)]
    pub at: Point,
    /// DOM `button`: 0 left, 1 middle, 2 right.
    #[serde(default)]
    pub button: u8,
    /// DOM `buttons`: bit mask of the buttons held down.
    #[serde(default)]
    pub buttons: u8,
    /// Number of consecutive clicks.
    #[serde(default)]
    pub clicks: u8,
    /// Alt 1, Control 2, Meta 4, Shift 8.
    #[serde(default)]
    pub modifiers: u8,
}

/// Kind of a mouse event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MouseKind {
    /// The pointer moves.
    Move,
    /// A button is pressed.
    Down,
    /// A button is released.
    Up,
}

/// An event of a key.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyInput {
    /// Kind of the key event.
    pub kind: KeyKind,
    /// DOM `key`, such as `a` or `Enter`.
    pub key: String,
    /// DOM `code`, such as `KeyA`.
    #[serde(default)]
    pub code: String,
    /// DOM `keyCode`.
    #[serde(default)]
    pub key_code: u8,
    /// As for the mouse.
    #[serde(default)]
    pub modifiers: u8,
    /// Whether the key is held down and repeats.
    #[serde(default)]
    pub repeat: bool,
}

/// Kind of a key event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyKind {
    /// The key is pressed.
    Down,
    /// The key is released.
    Up,
}

/// A message to the viewer whose input caused it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Reply {
    /// A select list to draw.
    Select(SelectList),
    /// The selected text.
    Copied {
        /// As plain text.
        text: String,
    },
    /// The element at a position; empty if there is none.
    Element {
        /// Selector that matches only this element of the document.
        selector: String,
        /// Its text or label.
        name: String,
    },
    /// A message for the user.
    Notice {
        /// The message.
        text: String,
    },
}

/// An open select list.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SelectList {
    /// Its options, at most [`MAX_SELECT_OPTIONS`](crate::limits::MAX_SELECT_OPTIONS).
    pub options: Vec<SelectOption>,
    /// Index of the selected option; -1 for none.
    pub selected: i64,
    /// Its upper left corner in the picture.
    pub at: Point,
    /// Its size in the picture.
    pub size: Point,
}

/// One option.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SelectOption {
    /// Label of the option.
    pub label: String,
    /// Label of its group; empty for none.
    pub group: String,
    /// Whether the option cannot be selected.
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
            Some(Input::Mouse(MouseInput {
                kind: MouseKind::Down,
                at,
                button: 0,
                buttons: 1,
                clicks: 2,
                modifiers: 8,
            })),
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
            Some(Input::Key(KeyInput {
                kind: KeyKind::Up,
                key: "a".to_owned(),
                code: "KeyA".to_owned(),
                key_code: 65,
                modifiers: 0,
                repeat: false,
            })),
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
