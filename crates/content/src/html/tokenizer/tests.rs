//! The tokenizer tests of html5lib-tests (`tests/html5lib`), without the kinds of parse errors.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::*;

/// Collects tokens in the form of the tests.
struct Tokens {
    arena: Arena,
    tokens: Vec<Value>,
}

impl Tokens {
    fn add_text(&mut self, text: &str) {
        if let Some(Value::Array(last)) = self.tokens.last_mut()
            && last[0] == "Character"
        {
            last[1] = format!("{}{text}", last[1].as_str().unwrap()).into();
        } else {
            self.tokens.push(json!(["Character", text]));
        }
    }
}

impl TokenSink for Tokens {
    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn is_full(&mut self) -> bool {
        false
    }

    fn open_tag(&mut self) {}

    fn start_tag(&mut self, token: &mut TagToken) -> Text {
        let names = &self.arena.names;
        let attributes: serde_json::Map<String, Value> = token
            .attributes
            .iter()
            .map(|attribute| {
                let value = &self.arena.text[attribute.start as usize..attribute.stop as usize];
                (names.get(attribute.name).to_owned(), value.into())
            })
            .collect();
        let mut tag: Vec<Value> = vec!["StartTag".into(), names.get(token.name).into(), attributes.into()];
        if token.self_closing {
            tag.push(true.into());
        }
        self.tokens.push(tag.into());
        Text::Data
    }

    fn end_tag(&mut self, token: &TagToken) {
        let name = self.arena.names.get(token.name);
        self.tokens.push(json!(["EndTag", name]));
    }

    fn text(&mut self, text: &str) {
        self.add_text(text);
    }

    fn null(&mut self) {
        self.add_text("\0");
    }

    fn comment(&mut self, data: &str) {
        let data = data.replace('\0', "\u{fffd}");
        self.tokens.push(json!(["Comment", data]));
    }

    fn doctype(&mut self, doctype: Doctype) {
        let text = |text: Option<&str>| text.map(|text| text.replace('\0', "\u{fffd}"));
        self.tokens.push(json!([
            "DOCTYPE",
            text(doctype.name).map(|name| name.to_ascii_lowercase()),
            text(doctype.public_id),
            text(doctype.system_id),
            !doctype.force_quirks
        ]));
    }

    fn allows_cdata(&self) -> bool {
        false
    }
}

/// Replaces `\u` and four hexadecimal digits in a text that is escaped twice; `None` for a lone surrogate, which no text
/// contains.
fn unescape(text: &str) -> Option<String> {
    let mut pieces = text.split("\\u");
    let mut out = pieces.next()?.to_owned();
    for piece in pieces {
        out.push(char::from_u32(u32::from_str_radix(&piece[..4], 16).unwrap())?);
        out.push_str(&piece[4..]);
    }
    Some(out)
}

fn unescape_all(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => unescape(text)?.into(),
        Value::Array(values) => values
            .iter()
            .map(unescape_all)
            .collect::<Option<Vec<_>>>()?
            .into(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| Some((unescape(name)?, unescape_all(value)?));
            Value::Object(members.iter().map(member).collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

/// Returns the tokens of a page that starts in a state.
fn tokens(input: &str, state: &str, last_start: &str) -> Vec<Value> {
    let input = normalize_newlines(input);
    let sink = Tokens {
        arena: Arena::new(&input),
        tokens: Vec::new(),
    };
    let mut tokenizer = Tokenizer::new(&input, sink);
    tokenizer.last_start = last_start.to_owned();
    match state {
        "Data state" => {}
        "PLAINTEXT state" => tokenizer.text = Text::Plaintext,
        "RCDATA state" => tokenizer.text = Text::Rcdata,
        "RAWTEXT state" => tokenizer.text = Text::Rawtext,
        "Script data state" => tokenizer.text = Text::Script,
        "CDATA section state" => tokenizer.cdata(),
        other => panic!("unknown state {other}"),
    }
    tokenizer.run().tokens
}

#[test]
fn tokens_are_those_of_the_standard() {
    let packed = include_bytes!("../../../tests/html5lib/tokenizer.jsonl.gz");
    let mut tests = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut tests).unwrap();
    let (mut passed, mut surrogates, mut failures) = (0, 0, Vec::new());
    for line in tests.lines() {
        let test: Value = serde_json::from_str(line).unwrap();
        let (input, expected) = match test["doubleEscaped"] == true {
            true => (unescape_all(&test["input"]), unescape_all(&test["output"])),
            false => (Some(test["input"].clone()), Some(test["output"].clone())),
        };
        let (Some(input), Some(expected)) = (input, expected) else {
            surrogates += 1;
            continue;
        };
        let states = test["initialStates"].as_array().cloned();
        for state in states.unwrap_or_else(|| vec!["Data state".into()]) {
            let last_start = test["lastStartTag"].as_str().unwrap_or_default();
            let found = Value::from(tokens(
                input.as_str().unwrap(),
                state.as_str().unwrap(),
                last_start,
            ));
            if found == expected {
                passed += 1;
            } else {
                failures.push(format!(
                    "{} {state} {input}\n  {expected}\n  {found}",
                    test["file"]
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(
        passed > 6000 && surrogates < 20,
        "{passed} passed, {surrogates} skipped"
    );
}

#[test]
fn newlines_are_normalized() {
    assert_eq!(normalize_newlines("a\r\nb\rc\n\r\r\nd"), "a\nb\nc\n\n\nd");
    assert!(matches!(normalize_newlines("a\nb"), Cow::Borrowed(_)));
}
