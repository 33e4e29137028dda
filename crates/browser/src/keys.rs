//! Keyboard keys by DOM name, as the DevTools protocol represents them.

use serde_json::{Value, json};

use crate::cdp::Session;
use crate::error::BrowserError;

/// A key with modifiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    key: String,
    code: String,
    key_code: u32,
    text: Option<String>,
    modifiers: u32,
}

/// Keys that type no text: DOM name and Windows virtual key code.
const KEYS_BY_NAME: [(&str, u32); 36] = [
    ("Alt", 18),
    ("ArrowDown", 40),
    ("ArrowLeft", 37),
    ("ArrowRight", 39),
    ("ArrowUp", 38),
    ("Backspace", 8),
    ("CapsLock", 20),
    ("ContextMenu", 93),
    ("Control", 17),
    ("Delete", 46),
    ("End", 35),
    ("Enter", 13),
    ("Escape", 27),
    ("F1", 112),
    ("F10", 121),
    ("F11", 122),
    ("F12", 123),
    ("F2", 113),
    ("F3", 114),
    ("F4", 115),
    ("F5", 116),
    ("F6", 117),
    ("F7", 118),
    ("F8", 119),
    ("F9", 120),
    ("Home", 36),
    ("Insert", 45),
    ("Meta", 91),
    ("NumLock", 144),
    ("PageDown", 34),
    ("PageUp", 33),
    ("Pause", 19),
    ("PrintScreen", 44),
    ("ScrollLock", 145),
    ("Shift", 16),
    ("Tab", 9),
];

/// Keys that type other characters than letters, on a US keyboard: the characters without and with Shift, `code` and
/// Windows virtual key code.
const KEYS_BY_CHARACTER: [(&str, &str, u32); 22] = [
    (" ", "Space", 32),
    ("1!", "Digit1", 49),
    ("2@", "Digit2", 50),
    ("3#", "Digit3", 51),
    ("4$", "Digit4", 52),
    ("5%", "Digit5", 53),
    ("6^", "Digit6", 54),
    ("7&", "Digit7", 55),
    ("8*", "Digit8", 56),
    ("9(", "Digit9", 57),
    ("0)", "Digit0", 48),
    ("-_", "Minus", 189),
    ("=+", "Equal", 187),
    ("[{", "BracketLeft", 219),
    ("]}", "BracketRight", 221),
    ("\\|", "Backslash", 220),
    (";:", "Semicolon", 186),
    ("'\"", "Quote", 222),
    (",<", "Comma", 188),
    (".>", "Period", 190),
    ("/?", "Slash", 191),
    ("`~", "Backquote", 192),
];

impl Key {
    /// Parses `Enter`, `a`, `Control+A`, `Shift+ArrowDown`; `None` for an unknown name.
    pub(crate) fn parse(name: &str) -> Option<Key> {
        let (held, last) = match name.rsplit_once('+') {
            Some((held, last)) if !last.is_empty() => (held, last),
            // The plus key itself, alone or with modifiers.
            Some((held, _)) => (held.trim_end_matches('+'), "+"),
            None => ("", name),
        };
        let mut modifiers = 0;
        for part in held.split('+').filter(|part| !part.is_empty()) {
            modifiers |= match part {
                "Alt" => 1,
                "Control" | "Ctrl" => 2,
                "Meta" | "Command" | "Cmd" => 4,
                "Shift" => 8,
                _ => return None,
            };
        }
        let mut key = Key::with_name(last).or_else(|| Key::character(last))?;
        key.modifiers = modifiers;
        if modifiers & (1 | 2 | 4) != 0 {
            key.text = None;
        }
        Some(key)
    }

    fn with_name(name: &str) -> Option<Key> {
        let (name, text) = match name {
            "Space" => return Key::character(" "),
            "Esc" => ("Escape", None),
            "Return" | "Enter" => ("Enter", Some("\r".to_owned())),
            other => (other, None),
        };
        let index = KEYS_BY_NAME
            .binary_search_by_key(&name, |(known, _)| known)
            .ok()?;
        let code = match name {
            "Alt" | "Control" | "Shift" | "Meta" => format!("{name}Left"),
            _ => name.to_owned(),
        };
        Some(Key {
            key: name.to_owned(),
            code,
            key_code: KEYS_BY_NAME[index].1,
            text,
            modifiers: 0,
        })
    }

    /// Returns the key that types one character.
    pub(crate) fn character(text: &str) -> Option<Key> {
        let mut characters = text.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else {
            return None;
        };
        if matches!(character, '\n' | '\r') {
            return Key::with_name("Enter");
        }
        if character == '\t' {
            return Key::with_name("Tab");
        }
        let upper = character.to_ascii_uppercase();
        let typed_by = |(characters, ..): &&(&str, &str, u32)| characters.contains(character);
        let (code, key_code) = match upper {
            'A'..='Z' => (format!("Key{upper}"), u32::from(upper)),
            _ => match KEYS_BY_CHARACTER.iter().find(typed_by) {
                Some((_, code, key_code)) => ((*code).to_owned(), *key_code),
                None => (String::new(), 0),
            },
        };
        Some(Key {
            key: text.to_owned(),
            code,
            key_code,
            text: Some(text.to_owned()),
            modifiers: 0,
        })
    }

    /// Presses and releases the key.
    pub(crate) async fn press(&self, session: &Session) -> Result<(), BrowserError> {
        let down = if self.text.is_some() {
            "keyDown"
        } else {
            "rawKeyDown"
        };
        session
            .call("Input.dispatchKeyEvent", self.event(down, true))
            .await?;
        session
            .call("Input.dispatchKeyEvent", self.event("keyUp", false))
            .await
            .map(drop)
    }

    fn event(&self, kind: &str, writes: bool) -> Value {
        let mut event = json!({
            "type": kind,
            "key": self.key,
            "code": self.code,
            "windowsVirtualKeyCode": self.key_code,
            "nativeVirtualKeyCode": self.key_code,
            "modifiers": self.modifiers,
        });
        if let (true, Some(text)) = (writes, &self.text) {
            event["text"] = text.as_str().into();
            event["unmodifiedText"] = text.as_str().into();
        }
        if writes && self.modifiers == 2 && self.key.eq_ignore_ascii_case("a") {
            event["commands"] = json!(["selectAll"]);
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed() {
        let check = |name: &str, key: &str, code: &str, modifiers: u32, text: Option<&str>| {
            let found = Key::parse(name).unwrap();
            assert_eq!(
                (&*found.key, &*found.code, found.modifiers, found.text.as_deref()),
                (key, code, modifiers, text)
            );
        };
        check("Enter", "Enter", "Enter", 0, Some("\r"));
        check("a", "a", "KeyA", 0, Some("a"));
        check("Control+A", "A", "KeyA", 2, None);
        check("Control+Shift+Tab", "Tab", "Tab", 10, None);
        check("Shift+Z", "Z", "KeyZ", 8, Some("Z"));
        check("+", "+", "Equal", 0, Some("+"));
        check("Control++", "+", "Equal", 2, None);
        check("Space", " ", "Space", 0, Some(" "));
        check("ä", "ä", "", 0, Some("ä"));
        for wrong in ["", "Foo", "Hyper+A", "ab", "Control+"] {
            let plus = Key::parse(wrong).is_some_and(|key| key.key == "+");
            assert!(Key::parse(wrong).is_none() || plus, "{wrong}");
        }
    }

    #[test]
    fn the_table_is_sorted_for_binary_search() {
        assert!(KEYS_BY_NAME.is_sorted_by_key(|(name, _)| *name));
    }
}
