//! Redaction of personal data and secrets (`redactPII`, docs/API.md section 4.9). Rules find e-mail addresses,
//! phone numbers, cards, accounts and keys; a language model finds names. All of them are replaced in every text
//! of a document. Linear in the length of the text. Start at [`Redactor`].

mod contact;
mod digits;
mod document;
mod financial;
mod names;
mod secret;
mod view;

use std::borrow::Cow;

use regex::Regex;

use crate::api::options::{PiiEntity, RedactMode, RedactPii, ReplaceStyle};
use crate::api::page::Document;
use crate::api::wire_enum::WireEnum;

pub use names::Names;

/// Finds and replaces personal data as a request demands.
#[derive(Clone, Debug)]
pub struct Redactor {
    options: RedactPii,
    names: Vec<(PiiEntity, Regex)>,
}

/// Personal data in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    /// Byte offset of the first character.
    start: usize,
    /// Byte offset after the last character.
    end: usize,
    entity: PiiEntity,
}

/// How a replacement is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Syntax {
    Text,
    /// Markup characters of a tag are escaped.
    Html,
}

impl Redactor {
    /// Creates a redactor that knows no names yet.
    pub fn new(options: &RedactPii) -> Self {
        Self {
            options: options.clone(),
            names: Vec::new(),
        }
    }

    /// Returns whether a language model searches for names, where there is one.
    pub fn searches_with_model(&self) -> bool {
        self.options.mode != RedactMode::Fast && !self.entities_of_model().is_empty()
    }

    /// Warns that names were not searched for, if the request has an entity that no rule finds.
    pub fn warn_of_unsearched(&self, document: &mut Document, because: &str) {
        let because = match self.options.mode {
            RedactMode::Fast => "the mode `fast` uses rules only",
            RedactMode::Accurate | RedactMode::Aggressive => because,
        };
        let entities: Vec<&str> = self
            .entities_of_model()
            .into_iter()
            .map(PiiEntity::as_str)
            .collect();
        if !entities.is_empty() {
            document.warn(&format!(
                "`redactPII` did not search for {}, because {because}.",
                entities.join(" and ")
            ));
        }
    }

    /// Returns the requested entities that no rule finds.
    fn entities_of_model(&self) -> Vec<PiiEntity> {
        [PiiEntity::Person, PiiEntity::Location]
            .into_iter()
            .filter(|entity| self.options.entities.contains(entity))
            .collect()
    }

    /// Adds names to redact wherever they occur.
    pub fn add_names(&mut self, names: &Names) {
        for entity in self.entities_of_model() {
            self.names
                .extend(names.pattern(entity).map(|pattern| (entity, pattern)));
        }
    }

    /// Returns a text without personal data.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replace(text, Syntax::Text)
    }

    /// Returns HTML without personal data.
    pub fn html<'t>(&self, html: &'t str) -> Cow<'t, str> {
        self.replace(html, Syntax::Html)
    }

    fn replace<'t>(&self, text: &'t str, syntax: Syntax) -> Cow<'t, str> {
        let spans = self.find(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for span in spans {
            redacted.push_str(&text[end..span.start]);
            self.push_replacement(&mut redacted, &text[span.start..span.end], span.entity, syntax);
            end = span.end;
        }
        redacted.push_str(&text[end..]);
        Cow::Owned(redacted)
    }

    fn push_replacement(&self, redacted: &mut String, found: &str, entity: PiiEntity, syntax: Syntax) {
        let (open, close) = match syntax {
            Syntax::Text => ("<", ">"),
            Syntax::Html => ("&lt;", "&gt;"),
        };
        match self.options.replace_style {
            ReplaceStyle::Tag => {
                redacted.push_str(open);
                redacted.push_str(entity.as_str());
                redacted.push_str(close);
            }
            ReplaceStyle::Mask => redacted.extend(found.chars().map(|_| '*')),
            ReplaceStyle::Remove => {}
        }
    }

    /// Returns the personal data in a text, in order and without overlaps.
    fn find(&self, text: &str) -> Vec<Span> {
        let view = view::View::of(text);
        let plain = view.text();
        let is_aggressive = self.options.mode == RedactMode::Aggressive;
        let mut spans = Vec::new();
        for entity in PiiEntity::ALL {
            if !self.options.entities.contains(entity) {
                continue;
            }
            let found = &mut |start, end| {
                spans.push(Span {
                    start,
                    end,
                    entity: *entity,
                })
            };
            match entity {
                PiiEntity::Email => contact::emails(plain, found),
                PiiEntity::Phone => contact::phones(plain, is_aggressive, found),
                PiiEntity::Financial => financial::find(plain, is_aggressive, found),
                PiiEntity::Secret => secret::find(plain, is_aggressive, found),
                PiiEntity::Person | PiiEntity::Location => {}
            }
        }
        for (entity, pattern) in &self.names {
            spans.extend(pattern.find_iter(plain).map(|found| Span {
                start: found.start(),
                end: found.end(),
                entity: *entity,
            }));
        }
        let mut spans = merge(spans);
        view.map_back(&mut spans);
        spans
    }
}

/// Sorts spans and merges overlapping ones under the entity with the lowest rank.
fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                if rank(span.entity) < rank(last.entity) {
                    last.entity = span.entity;
                }
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// Returns the rank of an entity. Of overlapping entities, the one with the lowest rank wins.
fn rank(entity: PiiEntity) -> u8 {
    match entity {
        PiiEntity::Secret => 0,
        PiiEntity::Financial => 1,
        PiiEntity::Email => 2,
        PiiEntity::Phone => 3,
        PiiEntity::Person => 4,
        PiiEntity::Location => 5,
    }
}

#[cfg(test)]
mod tests;
