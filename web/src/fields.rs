//! The form fields: how they are grouped, and which control edits each of them. Group, label, help, unit, bounds and
//! default come from the field tables of the core. Start with [`groups`].

use harvestman_core::api::action::{Action, ActionKind};
use harvestman_core::api::fields::{Field as ApiField, FieldType, Schema};
use harvestman_core::api::format::{Format, FormatKind};
use harvestman_core::api::search::Category;
use serde_json::Value;

use crate::draft::Endpoint;

mod groups;

pub use groups::{MAIN, groups};

/// The control that edits a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// One line of text.
    Text,
    /// Several lines of text.
    LongText,
    /// A number, with its unit in the API.
    Number(&'static str),
    /// On or off.
    Switch,
    /// On, off, or the server's default.
    MaybeSwitch,
    /// One of the listed values.
    Words(&'static [&'static str]),
    /// One of the listed values, each with its label; the empty value is none.
    Choices(&'static [(&'static str, &'static str)]),
    /// A list, one item per line.
    Lines,
    /// Name-value pairs, one `name: value` per line.
    Pairs,
    /// Any of the listed values.
    Set(&'static [&'static str]),
    /// Any JSON.
    Json,
    /// A JSON Schema of an object.
    Schema,
    /// A list of actions.
    Actions,
}

/// An API field in a form.
#[derive(Clone)]
pub struct Field {
    /// Name in the API, with dots for nested objects.
    pub path: String,
    /// Label on screen.
    pub label: String,
    /// Help, one short sentence.
    pub help: String,
    /// Its control.
    pub kind: Kind,
    /// Default of the core.
    pub default: Option<Value>,
}

/// A group of fields.
#[derive(Clone, Copy)]
pub struct Group {
    /// Heading.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Whether the fields are page options, which are nested under `scrapeOptions` in a crawl, search or extraction.
    pub page: bool,
}

impl Group {
    /// Returns the path prefix of its fields.
    pub fn prefix(&self, endpoint: Endpoint) -> &'static str {
        if self.page { endpoint.page_prefix() } else { "" }
    }

    /// Returns its fields, in the order of their declaration.
    pub fn fields(&self, endpoint: Endpoint) -> Vec<Field> {
        let table = endpoint.command().fields();
        let options = ApiField::find(&table, self.prefix(endpoint).trim_end_matches('.'));
        let fields = options.as_ref().and_then(|field| field.schema.object());
        let fields = fields.unwrap_or(&table).iter();
        let own = fields.filter(|field| field.group == Some(self.name));
        own.cloned().flat_map(|field| rows(field, false)).collect()
    }
}

/// Returns the option fields of a format.
pub fn of_format(kind: FormatKind) -> Vec<Field> {
    options(Format::schema(()).variant(kind.as_str()))
}

/// Returns the fields of a kind of action.
pub fn of_action(kind: ActionKind) -> Vec<Field> {
    options(Action::schema(()).variant(kind.as_str()))
}

/// Converts the fields of an object within a list.
fn options(fields: Vec<ApiField>) -> Vec<Field> {
    fields.into_iter().flat_map(|field| rows(field, true)).collect()
}

/// Converts a field; an object without a control of its own becomes a row for each of its fields.
fn rows(field: ApiField, is_nested: bool) -> Vec<Field> {
    let path = field.name;
    match (kind(&field, is_nested), field.schema.object()) {
        (Kind::Json, Some(parts)) => {
            let parts = parts.iter().cloned();
            parts
                .map(|part| {
                    let path = format!("{path}.{}", part.name);
                    Field::new(part, &path, true)
                })
                .collect()
        }
        _ => vec![Field::new(field, path, is_nested)],
    }
}

/// Choices of the time filter of a search; other filters are entered in the JSON tab.
const TIMES: &[(&str, &str)] = &[
    ("", "any time"),
    ("qdr:h", "past hour"),
    ("qdr:d", "past day"),
    ("qdr:w", "past week"),
    ("qdr:m", "past month"),
    ("qdr:y", "past year"),
];

/// Maximum characters of a text that is edited on one line.
const ONE_LINE: usize = 2000;

impl Field {
    /// Converts a field of the core. The draft has no defaults of nested fields.
    fn new(field: ApiField, path: &str, is_nested: bool) -> Self {
        let kind = kind(&field, is_nested);
        let entry = match kind {
            Kind::Lines => " One per line.",
            Kind::Pairs => " One `name: value` per line.",
            _ => "",
        };
        Self {
            path: path.to_owned(),
            label: field.label(),
            help: format!("{}{entry}", field.help),
            kind,
            default: default_of(&field),
        }
    }
}

fn default_of(field: &ApiField) -> Option<Value> {
    serde_json::to_value(field.default.as_ref()?).ok()
}

/// Returns the control that fits the schema of a field.
fn kind(field: &ApiField, is_nested: bool) -> Kind {
    let is_on = default_of(field) == Some(Value::Bool(true));
    match (field.name, &field.schema) {
        ("tbs", _) => Kind::Choices(TIMES),
        ("actions", _) => Kind::Actions,
        ("schema", _) => Kind::Schema,
        ("categories", _) => Kind::Set(Category::OFFERED),
        ("search", Schema::Text(_)) => Kind::Text,
        (_, Schema::Boolean) if is_nested && is_on => Kind::MaybeSwitch,
        (_, Schema::Boolean) if field.default.is_none() => Kind::MaybeSwitch,
        (_, Schema::Boolean) => Kind::Switch,
        (_, Schema::Integer(_) | Schema::Number(_)) => Kind::Number(field.unit.unwrap_or_default()),
        (_, Schema::Text(chars)) if *chars.end() > ONE_LINE => Kind::LongText,
        (_, Schema::Text(_) | Schema::Formatted(_) | Schema::Constant(_)) => Kind::Text,
        (_, Schema::Word(words)) => Kind::Words(words),
        (_, Schema::List(items, _)) => list(items),
        (_, Schema::Map(_)) => Kind::Pairs,
        (_, Schema::OneOf(kinds)) if kinds.iter().any(|kind| matches!(kind, Schema::Boolean)) => Kind::Switch,
        (_, Schema::OneOf(_) | Schema::Nullable(_) | Schema::Object(..) | Schema::Any) => Kind::Json,
    }
}

fn list(items: &Schema) -> Kind {
    match items {
        Schema::Word(words) => Kind::Set(words),
        Schema::Text(_) | Schema::Formatted(_) => Kind::Lines,
        Schema::OneOf(kinds) => kinds
            .iter()
            .find_map(|kind| match kind {
                Schema::Word(words) => Some(Kind::Set(words)),
                _ => None,
            })
            .unwrap_or(Kind::Json),
        _ => Kind::Json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDPOINTS: [Endpoint; 7] = [
        Endpoint::Scrape,
        Endpoint::Crawl,
        Endpoint::Batch,
        Endpoint::Map,
        Endpoint::Search,
        Endpoint::Extract,
        Endpoint::Agent,
    ];

    /// Fields whose control is not in a group.
    const ELSEWHERE: &[&str] = &["url", "query", "prompt", "schema", "formats", "scrapeOptions"];

    fn all_groups(endpoint: Endpoint) -> impl Iterator<Item = &'static Group> {
        groups(endpoint).iter().chain([&MAIN])
    }

    #[test]
    fn every_field_of_a_request_has_a_control() {
        for endpoint in ENDPOINTS {
            let check = |fields: &[ApiField], path: &str, page: bool| {
                let is_for = |group: &&Group| group.page == page || endpoint.page_prefix().is_empty();
                let names: Vec<&str> = all_groups(endpoint)
                    .filter(is_for)
                    .map(|group| group.name)
                    .collect();
                for field in fields.iter().filter(|field| !field.hidden) {
                    let has_control = ELSEWHERE.contains(&field.name)
                        || field.group.is_some_and(|group| names.contains(&group));
                    assert!(has_control, "{path}{} of {}", field.name, endpoint.command());
                }
            };
            let table = endpoint.command().fields();
            check(&table, "", false);
            if let Some(options) = ApiField::find(&table, "scrapeOptions") {
                check(options.schema.object().unwrap(), "scrapeOptions.", true);
            }
        }
    }

    #[test]
    fn every_group_has_fields_with_label_and_help() {
        for endpoint in ENDPOINTS {
            for group in groups(endpoint) {
                let fields = group.fields(endpoint);
                assert!(!fields.is_empty(), "{} of {}", group.name, endpoint.command());
                for field in fields {
                    assert!(
                        !field.label.is_empty() && !field.help.is_empty(),
                        "{}",
                        field.path
                    );
                }
            }
        }
    }

    #[test]
    fn controls_follow_what_fields_take() {
        let kind_of = |fields: Vec<Field>, path: &str| {
            let field = fields.into_iter().find(|field| field.path == path);
            field.map(|field| field.kind)
        };
        let in_groups = |endpoint: Endpoint, name| {
            let fields = groups(endpoint).iter().flat_map(|group| group.fields(endpoint));
            kind_of(fields.collect(), name)
        };
        let page = |name| in_groups(Endpoint::Crawl, name);
        assert_eq!(page("waitFor"), Some(Kind::Number("ms")));
        assert_eq!(page("headers"), Some(Kind::Pairs));
        assert_eq!(page("skipTlsVerification"), Some(Kind::MaybeSwitch));
        assert_eq!(page("profile.saveChanges"), Some(Kind::MaybeSwitch));
        assert_eq!(
            in_groups(Endpoint::Search, "categories"),
            Some(Kind::Set(&["github", "research", "pdf"]))
        );
        assert_eq!(page("redactPII"), Some(Kind::Switch));
        assert_eq!(page("parsers"), Some(Kind::Set(&["pdf", "image"])));
        assert_eq!(page("includePaths"), Some(Kind::Lines));
        assert_eq!(
            kind_of(of_format(FormatKind::Screenshot), "viewport.width"),
            Some(Kind::Number("CSS pixels"))
        );
        assert_eq!(kind_of(of_format(FormatKind::Json), "schema"), Some(Kind::Schema));
        assert_eq!(
            kind_of(of_action(ActionKind::Write), "text"),
            Some(Kind::LongText)
        );
        assert!(of_format(FormatKind::Markdown).is_empty());
        let scroll = of_action(ActionKind::Scroll);
        let direction = scroll.iter().find(|field| field.path == "direction");
        assert_eq!(
            direction.and_then(|field| field.default.clone()),
            Some(Value::from("down"))
        );
    }
}
