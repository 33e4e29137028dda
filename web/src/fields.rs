//! The form fields: how they are grouped, and which control edits each of them. Label, help, unit, bounds and default
//! come from the field tables of the core. Start with [`first`] and [`groups`].

use harvestman_core::api::action::{Action, ActionKind};
use harvestman_core::api::fields::{Field as ApiField, FieldType, Schema};
use harvestman_core::api::format::{Format, FormatKind};
use harvestman_core::api::search::Category;
use serde_json::Value;

use crate::draft::Endpoint;

mod groups;

pub use groups::{first, groups};

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
    /// Names of the fields in the API, with dots for nested objects.
    pub fields: &'static [&'static str],
}

impl Group {
    /// Returns the path prefix of its fields.
    pub fn prefix(&self, endpoint: Endpoint) -> &'static str {
        if self.page { endpoint.page_prefix() } else { "" }
    }

    /// Returns its fields.
    ///
    /// # Panics
    /// Panics if the request of `endpoint` has no field with one of the names; a test checks every group.
    pub fn fields(&self, endpoint: Endpoint) -> Vec<Field> {
        let table = endpoint.command().fields();
        let prefix = self.prefix(endpoint);
        let field = |path: &&str| {
            let field = ApiField::find(&table, &format!("{prefix}{path}")).expect("a field of the request");
            let is_nested = path.contains('.');
            Field::new(field, path, is_nested)
        };
        self.fields.iter().map(field).collect()
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

/// Converts the fields of an object within a list; objects in it become rows of their own.
fn options(fields: Vec<ApiField>) -> Vec<Field> {
    let rows = |field: ApiField| match field.schema.clone() {
        Schema::Object(_, inner) => inner
            .into_iter()
            .map(|part| {
                let path = format!("{}.{}", field.name, part.name);
                Field::new(part, &path, true)
            })
            .collect(),
        _ => {
            let path = field.name;
            vec![Field::new(field, path, true)]
        }
    };
    fields.into_iter().flat_map(rows).collect()
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
        }
    }
}

/// Returns the control that fits the schema of a field.
fn kind(field: &ApiField, is_nested: bool) -> Kind {
    let is_on = field
        .default
        .as_ref()
        .and_then(|node| serde_json::to_value(node).ok())
        == Some(Value::Bool(true));
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
        (_, Schema::OneOf(_) | Schema::Object(..) | Schema::Any) => Kind::Json,
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

    /// Whether a group of an endpoint has a field, or a part of it.
    fn has(endpoint: Endpoint, page: bool, name: &str) -> bool {
        let mut all = groups(endpoint).iter().chain(first(endpoint));
        all.any(|group| {
            let names = || group.fields.iter().filter_map(|path| path.split('.').next());
            (group.page == page || endpoint.page_prefix().is_empty()) && names().any(|field| field == name)
        })
    }

    #[test]
    fn every_field_of_a_request_has_a_control() {
        for endpoint in ENDPOINTS {
            let table = endpoint.command().fields();
            let shown = |fields: &[ApiField]| -> Vec<&'static str> {
                let names = fields
                    .iter()
                    .filter(|field| !field.hidden)
                    .map(|field| field.name);
                names.filter(|name| !ELSEWHERE.contains(name)).collect()
            };
            for name in shown(&table) {
                assert!(has(endpoint, false, name), "{name} of {}", endpoint.command());
            }
            let page = ApiField::find(&table, "scrapeOptions");
            for name in page
                .iter()
                .flat_map(|field| shown(field.schema.object().unwrap()))
            {
                assert!(
                    has(endpoint, true, name),
                    "scrapeOptions.{name} of {}",
                    endpoint.command()
                );
            }
        }
    }

    #[test]
    fn every_name_in_a_group_is_a_field() {
        for endpoint in ENDPOINTS {
            for group in groups(endpoint).iter().chain(first(endpoint)) {
                for field in group.fields(endpoint) {
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
    }
}
