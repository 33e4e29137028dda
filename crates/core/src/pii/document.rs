//! Redaction of every text of a page document. `sourceURL`, `url` and the ids of a document stay: they identify it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Redactor, Syntax};
use crate::api::branding::Branding;
use crate::api::change_report::ChangeReport;
use crate::api::page::{ActionOutputs, Document, Metadata};

impl Redactor {
    /// Removes personal data from a document, except from its `changeTracking`.
    pub fn document(&self, document: &mut Document) {
        let Document {
            markdown,
            html,
            raw_html,
            links,
            images,
            screenshot: _,
            json,
            summary,
            answer,
            highlights,
            attributes,
            change_tracking: _,
            branding,
            product,
            menu,
            // Refused together with `redactPII`.
            raw_base64: _,
            actions,
            pages,
            blocks,
            metadata,
            warning,
            version: _,
            tracked,
            took_ms: _,
        } = document;
        for text in [markdown, summary, answer, highlights, warning] {
            self.set_text(text.iter_mut());
        }
        for html in [html, raw_html] {
            self.set_html(html.iter_mut());
        }
        for urls in [links, images] {
            self.set_text(urls.iter_mut().flatten());
        }
        for value in [json, tracked] {
            self.set_json(value.iter_mut());
        }
        self.branding(branding);
        *product = product.take().and_then(|product| self.redacted(&product));
        *menu = menu.take().and_then(|menu| self.redacted(&menu));
        self.set_json(blocks.iter_mut().flatten());
        self.set_text(
            attributes
                .iter_mut()
                .flatten()
                .flat_map(|found| &mut found.values),
        );
        self.set_text(pages.iter_mut().flatten().map(|page| &mut page.markdown));
        if let Some(actions) = actions {
            self.actions(actions);
        }
        let Metadata {
            title,
            description,
            other,
            ..
        } = metadata;
        for text in [title, description] {
            self.set_text(text.iter_mut());
        }
        for (name, value) in other {
            if name != "sourceFile" {
                self.json(value);
            }
        }
    }

    /// Removes personal data from the result of `branding`.
    pub fn branding(&self, branding: &mut Option<Branding>) {
        *branding = branding.take().and_then(|branding| self.redacted(&branding));
    }

    /// Removes personal data from the results of actions.
    pub fn actions(&self, actions: &mut ActionOutputs) {
        self.set_html(actions.scrapes.iter_mut().map(|scrape| &mut scrape.html));
        self.set_json(
            actions
                .javascript_returns
                .iter_mut()
                .map(|returned| &mut returned.value),
        );
    }

    /// Removes personal data of earlier versions of a page from the report of its changes.
    pub fn changes(&self, report: &mut ChangeReport) {
        // What cannot be read back is left out rather than shown.
        report.diff = report.diff.take().and_then(|diff| self.redacted(&diff));
        report.json = report.json.take().and_then(|json| self.redacted(&json));
    }

    fn redacted<T: serde::Serialize + serde::de::DeserializeOwned>(&self, value: &T) -> Option<T> {
        let mut json = serde_json::to_value(value).ok()?;
        self.json(&mut json);
        serde_json::from_value(json).ok()
    }

    /// Removes personal data from a value. The name of a field counts as the words before its value.
    pub fn json(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.set_text(std::iter::once(text)),
            Value::Number(number) => {
                let text = number.to_string();
                let redacted = self.text(&text);
                if redacted != text {
                    *value = Value::from(redacted.into_owned());
                }
            }
            Value::Array(items) => self.set_json(items.iter_mut()),
            Value::Object(fields) => self.fields(fields),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn fields(&self, fields: &mut Map<String, Value>) {
        for (name, mut value) in std::mem::take(fields) {
            let text = match &value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            };
            match text {
                Some(text) => {
                    let redacted = self.labelled(&name, &text);
                    if redacted != text {
                        value = Value::from(redacted);
                    }
                }
                None => self.json(&mut value),
            }
            fields.insert(self.text(&name).into_owned(), value);
        }
    }

    /// Returns the value of a field without personal data.
    fn labelled(&self, name: &str, value: &str) -> String {
        let start = name.len() + 2;
        let text = format!("{name}: {value}");
        let mut redacted = String::with_capacity(value.len());
        let mut end = start;
        for mut span in self.find(&text) {
            span.start = span.start.max(start);
            if span.end <= span.start {
                continue;
            }
            redacted.push_str(&text[end..span.start]);
            self.push_replacement(
                &mut redacted,
                &text[span.start..span.end],
                span.entity,
                Syntax::Text,
            );
            end = span.end;
        }
        redacted.push_str(&text[end..]);
        redacted
    }

    fn set_text<'t>(&self, texts: impl Iterator<Item = &'t mut String>) {
        for text in texts {
            if let Cow::Owned(redacted) = self.text(text) {
                *text = redacted;
            }
        }
    }

    fn set_html<'t>(&self, texts: impl Iterator<Item = &'t mut String>) {
        for text in texts {
            if let Cow::Owned(redacted) = self.html(text) {
                *text = redacted;
            }
        }
    }

    fn set_json<'v>(&self, values: impl Iterator<Item = &'v mut Value>) {
        for value in values {
            self.json(value);
        }
    }
}
