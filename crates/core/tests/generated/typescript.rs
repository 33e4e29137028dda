//! TypeScript types of request bodies.

use harvestman_core::api::action::Action;
use harvestman_core::api::agent::AgentRequest;
use harvestman_core::api::browser::{BrowserRequest, ExecuteRequest};
use harvestman_core::api::extract::{ExtractAgent, ExtractRequest};
use harvestman_core::api::fields::{Field, FieldType, Schema};
use harvestman_core::api::format::{
    AttributeSelector, ChangeTracking, Format, JsonFormat, Screenshot, Viewport,
};
use harvestman_core::api::interact::InteractRequest;
use harvestman_core::api::location::{Location, Profile};
use harvestman_core::api::monitor::{MonitorChange, MonitorRequest, Schedule};
use harvestman_core::api::options::RedactPii;
use harvestman_core::api::parser::{Parser, PdfParser};
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::{
    BatchScrapeRequest, CrawlRequest, MapRequest, ScrapeOptions, ScrapeRequest, Wire,
};

use crate::tables::shown;
use crate::words::{bounds, default, split_help};

/// Unions with a name of their own: how the names of their objects end.
const UNIONS: &[&str] = &["Format", "Action", "Parser"];

/// Widest line of a comment or union.
const WIDTH: usize = 110;

/// Returns every type.
pub(crate) fn types() -> String {
    let mut types = Types::default();
    types.union(
        "Format",
        "Part of a page to return: a name, or an object with `type`.",
        Format::schema(()),
    );
    types.union(
        "Action",
        "Step in the browser before the page is read.",
        Action::schema(()),
    );
    types.union(
        "Parser",
        "How a kind of document is converted.",
        Parser::schema(()),
    );
    types.add(
        ScrapeOptions::NAME,
        ScrapeOptions::SUMMARY,
        "",
        ScrapeOptions::fields(),
    );
    types.body::<ScrapeRequest>("ScrapeRequest", "url", ScrapeOptions::NAME);
    types.body::<CrawlRequest>("CrawlOptions", "url", "");
    types.whole::<CrawlRequest>("CrawlOptions", "url");
    types.body::<BatchScrapeRequest>("BatchScrapeOptions", "urls", ScrapeOptions::NAME);
    types.whole::<BatchScrapeRequest>("BatchScrapeOptions", "urls");
    types.body::<MapRequest>("MapOptions", "url", "");
    types.whole::<MapRequest>("MapOptions", "url");
    types.body::<SearchRequest>(SearchRequest::NAME, "", "");
    types.body::<ExtractRequest>(ExtractRequest::NAME, "", "");
    types.body::<AgentRequest>(AgentRequest::NAME, "", "");
    types.body::<MonitorRequest>(MonitorRequest::NAME, "", "");
    types.body::<MonitorChange>(MonitorChange::NAME, "", "");
    types.body::<BrowserRequest>(BrowserRequest::NAME, "", "");
    types.body::<ExecuteRequest>(ExecuteRequest::NAME, "", "");
    types.body::<InteractRequest>(InteractRequest::NAME, "", "");
    types.finish()
}

/// Returns the first sentence about a request, without the full stop.
fn first_sentence<R: Wire>() -> &'static str {
    R::SUMMARY
        .split(". ")
        .next()
        .unwrap_or_default()
        .trim_end_matches('.')
}

/// Returns the description of an object that is not itself a request.
fn summary(name: &str) -> &'static str {
    let summaries = [
        (Location::NAME, Location::SUMMARY),
        (Profile::NAME, Profile::SUMMARY),
        (RedactPii::NAME, RedactPii::SUMMARY),
        (Viewport::NAME, Viewport::SUMMARY),
        (AttributeSelector::NAME, AttributeSelector::SUMMARY),
        (ExtractAgent::NAME, ExtractAgent::SUMMARY),
        (PdfParser::NAME, PdfParser::SUMMARY),
        (Schedule::NAME, Schedule::SUMMARY),
        ("JsonFormat", JsonFormat::SUMMARY),
        ("ChangeTrackingFormat", ChangeTracking::SUMMARY),
        ("ScreenshotFormat", Screenshot::SUMMARY),
        ("PlainFormat", "A format without options."),
        ("SearchSource", "Source of search results."),
        ("Webhook", "Receiver of the events of a job."),
        (
            "WebhookEventName",
            "Event of a job: its short name, or its full name such as `crawl.page`.",
        ),
    ];
    summaries
        .iter()
        .find(|(of, _)| *of == name)
        .map_or("", |(_, summary)| summary)
}

#[derive(Default)]
struct Types {
    written: Vec<&'static str>,
    out: String,
    /// Short names of webhook events; each job has some of them.
    events: Vec<&'static str>,
}

impl Types {
    /// Adds the body of a request without its subject, which calls take as an argument of its own.
    fn body<R: Wire>(&mut self, name: &'static str, subject: &str, base: &str) {
        let inherited = match base {
            ScrapeOptions::NAME => ScrapeOptions::fields(),
            _ => Vec::new(),
        };
        let is_own = |field: &Field| {
            field.name != subject && inherited.iter().all(|inherited| inherited.name != field.name)
        };
        let fields = R::fields().into_iter().filter(is_own).collect();
        let summary = match subject {
            "" => format!("{}.", first_sentence::<R>()),
            _ => format!("{} without `{subject}`.", first_sentence::<R>()),
        };
        self.add(name, &summary, base, fields);
    }

    /// Adds the body of a request as its options and its subject.
    fn whole<R: Wire>(&mut self, options: &str, subject: &str) {
        let fields = R::fields()
            .into_iter()
            .filter(|field| field.name == subject)
            .collect();
        self.add(R::NAME, &format!("{}.", first_sentence::<R>()), options, fields);
    }

    /// Adds an interface after the interfaces of the objects in it, each once.
    fn add(&mut self, name: &'static str, summary: &str, base: &str, fields: Vec<Field>) {
        let mut inner: Vec<(&'static str, Vec<Field>)> = Vec::new();
        for field in shown(&fields) {
            field
                .schema
                .visit_objects(&mut |name, fields| inner.push((name, fields.to_vec())));
        }
        for (name, fields) in inner {
            self.interface(name, summary_of(name), "", &fields);
        }
        self.interface(name, summary, base, &fields);
    }

    fn interface(&mut self, name: &'static str, summary: &str, base: &str, fields: &[Field]) {
        if name == "Webhook" {
            self.note_events(fields);
        }
        if self.written.contains(&name) {
            return;
        }
        self.written.push(name);
        let extends = match base {
            "" => String::new(),
            base => format!(" extends {base}"),
        };
        comment(&mut self.out, "", summary);
        self.out
            .push_str(&format!("export interface {name}{extends} {{\n"));
        for field in shown(fields) {
            comment(&mut self.out, "  ", &help(field));
            let mark = if field.required { "" } else { "?" };
            let of = match (name, field.name) {
                ("Webhook", "events") => "WebhookEventName[]".to_owned(),
                _ => type_of(&field.schema),
            };
            let line = format!("  {}{mark}: {of};", field.name);
            self.out.push_str(&wrapped(&line));
        }
        self.out.push_str("}\n\n");
    }

    /// Adds a union after its objects.
    fn union(&mut self, name: &str, summary: &str, schema: Schema) {
        let Schema::OneOf(kinds) = &schema else {
            panic!("a union");
        };
        schema.visit_objects(&mut |name, fields| self.interface(name, summary_of(name), "", fields));
        comment(&mut self.out, "", summary);
        let kinds: Vec<String> = kinds.iter().map(type_of).collect();
        self.out
            .push_str(&wrapped(&format!("export type {name} = {};", kinds.join(" | "))));
        self.out.push('\n');
    }

    fn note_events(&mut self, fields: &[Field]) {
        let events = fields.iter().find(|field| field.name == "events").unwrap();
        let Schema::List(items, _) = &events.schema else {
            panic!("a list of events");
        };
        let Schema::Word(names) = **items else {
            panic!("names of events");
        };
        for name in names {
            if !self.events.contains(name) {
                self.events.push(name);
            }
        }
    }

    fn finish(mut self) -> String {
        let mut names: Vec<String> = self.events.iter().map(|name| format!("'{name}'")).collect();
        names.push("`${string}.${string}`".to_owned());
        comment(&mut self.out, "", summary("WebhookEventName"));
        let union = format!("export type WebhookEventName = {};", names.join(" | "));
        self.out.push_str(&wrapped(&union));
        self.out
    }
}

fn summary_of(name: &str) -> &'static str {
    match name {
        ScrapeOptions::NAME => ScrapeOptions::SUMMARY,
        _ => summary(name),
    }
}

/// Returns the comment of a field: help, unit, bounds and default.
fn help(field: &Field) -> String {
    let (help, stated) = split_help(field);
    let mut text = help.to_owned();
    if let Some(unit) = field.unit {
        text.push_str(&format!(" Unit: {unit}."));
    }
    if let (Schema::Integer(_) | Schema::Number(_), Some(bounds)) = (&field.schema, bounds(&field.schema)) {
        text.push_str(&format!(" Range: {bounds}."));
    }
    if let Some(default) = stated.map(str::to_owned).or_else(|| default(field)) {
        text.push_str(&format!(" Default: {default}."));
    }
    text.trim_start().to_owned()
}

fn type_of(schema: &Schema) -> String {
    match schema {
        Schema::Any => "unknown".to_owned(),
        Schema::Boolean => "boolean".to_owned(),
        Schema::Integer(_) | Schema::Number(_) => "number".to_owned(),
        Schema::Text(_) | Schema::Formatted(_) => "string".to_owned(),
        Schema::Constant(word) => format!("'{word}'"),
        Schema::Word(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            words.join(" | ")
        }
        Schema::List(items, _) => match type_of(items) {
            items if items.contains(" | ") => format!("({items})[]"),
            items => format!("{items}[]"),
        },
        Schema::Map(values) => match **values {
            // Unlike a record, it takes values of any interface.
            Schema::Any => "object".to_owned(),
            _ => format!("Record<string, {}>", type_of(values)),
        },
        Schema::Object(name, _) => (*name).to_owned(),
        Schema::OneOf(kinds) => {
            let union = kinds.iter().find_map(|kind| match kind {
                Schema::Object(name, _) => UNIONS.iter().find(|end| name.ends_with(**end)),
                _ => None,
            });
            match union {
                Some(union) => (*union).to_owned(),
                None => kinds.iter().map(type_of).collect::<Vec<_>>().join(" | "),
            }
        }
        Schema::Nullable(inner) => format!("{} | null", type_of(inner)),
    }
}

/// Adds a comment of one line, or of several where it is too long for one.
fn comment(out: &mut String, indent: &str, text: &str) {
    let text = text.replace("*/", "*\\/");
    if text.is_empty() {
        return;
    }
    let line = format!("{indent}/** {text} */");
    if line.chars().count() <= WIDTH {
        out.push_str(&format!("{line}\n"));
        return;
    }
    out.push_str(&format!("{indent}/**\n"));
    let start = format!("{indent} *");
    let mut line = start.clone();
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&format!("{line}\n"));
            line.clone_from(&start);
        }
        line.push_str(&format!(" {word}"));
    }
    out.push_str(&format!("{line}\n{indent} */\n"));
}

/// Returns a declaration on one line, or with each alternative on its own line if it is too long for one.
fn wrapped(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return format!("{line}\n");
    }
    let inner = " ".repeat(line.len() - line.trim_start().len() + 2);
    let mut out = String::new();
    let mut words = line.split(" | ");
    let mut current = words.next().unwrap().to_owned();
    if let Some((start, first)) = current.clone().split_once(" = ") {
        out.push_str(&format!("{start} =\n"));
        current = format!("{inner}| {first}");
    }
    for word in words {
        if current.chars().count() + 3 + word.chars().count() > WIDTH {
            out.push_str(&format!("{current}\n"));
            current = format!("{inner}| {word}");
        } else {
            current.push_str(&format!(" | {word}"));
        }
    }
    out + &format!("{current}\n")
}
