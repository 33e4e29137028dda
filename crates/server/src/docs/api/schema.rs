//! Tables of fields from the schemas of the OpenAPI document: name, type, bounds, default and description.

use harvestman_core::api::fields::Slot;
use serde_json::Value;

use super::super::html::{API_ENDPOINT, escape, render_line};
use super::{entries, items, resolve, text};

/// Longest pattern that is shown.
const LONGEST_PATTERN: usize = 60;

/// Schemas of the document, and the objects that the tables of one page refer to.
pub(super) struct Schemas<'d> {
    document: &'d Value,
    objects: Vec<&'d str>,
}

impl<'d> Schemas<'d> {
    pub(super) fn of(document: &'d Value) -> Self {
        Self {
            document,
            objects: Vec::new(),
        }
    }

    /// Renders a table of parameters.
    pub(super) fn parameters(&mut self, parameters: &[&'d Value]) -> String {
        let rows = parameters.iter().map(|parameter| {
            let place = format!("<small>in the {}</small>", escape(text(&parameter["in"])));
            let is_required = parameter["required"] == Value::Bool(true);
            self.row(
                text(&parameter["name"]),
                &place,
                is_required,
                &parameter["schema"],
                text(&parameter["description"]),
            )
        });
        table(&rows.collect::<String>())
    }

    /// Renders the fields of an object, or the type of any other schema.
    pub(super) fn fields_of(&mut self, schema: &'d Value) -> String {
        let object = self.resolve_reference(schema);
        match object["properties"].is_object() {
            true => self.fields(object),
            false => match self.type_of(schema).as_str() {
                "any" => String::new(),
                kind => format!("<p>{kind}</p>"),
            },
        }
    }

    /// Renders the objects that the tables refer to, each once.
    pub(super) fn objects(&mut self) -> String {
        let mut sections = String::new();
        let mut index = 0;
        // Rendering an object may find further ones.
        while let Some(name) = self.objects.get(index).copied() {
            let object = &self.document["components"]["schemas"][name];
            let help = render_line(text(&object["description"]), API_ENDPOINT);
            let fields = self.fields(object);
            let name = escape(name);
            sections.push_str(&format!("<h3 id=\"{name}\">{name}</h3><p>{help}</p>{fields}"));
            index += 1;
        }
        match sections.is_empty() {
            true => sections,
            false => format!("<h2>Objects</h2>{sections}"),
        }
    }

    fn resolve_reference(&self, schema: &'d Value) -> &'d Value {
        match schema["$ref"].as_str() {
            Some(reference) => resolve(self.document, reference),
            None => schema,
        }
    }

    /// Renders the fields of an object, required ones first. Fields without effect are left out.
    fn fields(&mut self, object: &'d Value) -> String {
        let is_required = |name: &str| items(&object["required"]).any(|required| required == name);
        let mut fields: Vec<_> = entries(&object["properties"])
            .filter(|(_, field)| field["deprecated"] != Value::Bool(true))
            .collect();
        fields.sort_by_key(|(name, _)| !is_required(name));
        let rows = fields
            .into_iter()
            .map(|(name, field)| self.row(name, "", is_required(name), field, text(&field["description"])));
        table(&rows.collect::<String>())
    }

    fn row(&mut self, name: &str, note: &str, is_required: bool, schema: &'d Value, help: &str) -> String {
        let required = match is_required {
            true => "<small class=\"required\">required</small>",
            false => "",
        };
        let bounds = bounds(schema).or_else(|| bounds(self.resolve_reference(schema)));
        let bounds = bounds.map_or_else(String::new, |bounds| {
            format!("<small>{}</small>", escape(&bounds))
        });
        let default = match &schema["default"] {
            Value::Null => String::new(),
            Value::Array(items) if items.is_empty() => String::new(),
            default => format!("<code>{}</code>", escape(&default.to_string())),
        };
        let kind = self.type_of(schema);
        // Every optional field may be null, which counts as absent.
        let kind = [" or <code>null</code>", ", <code>null</code>"]
            .iter()
            .find_map(|end| kind.strip_suffix(end).filter(|_| !is_required))
            .unwrap_or(&kind);
        format!(
            "<tr><td><code>{name}</code>{required}{note}</td><td>{kind}{bounds}</td><td>{default}</td>\
             <td>{help}</td></tr>",
            name = escape(name),
            help = render_line(help, API_ENDPOINT),
        )
    }

    /// Returns the type of a schema as HTML, with links to the objects that it contains.
    fn type_of(&mut self, schema: &'d Value) -> String {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.referenced(reference);
        }
        let kinds = ["anyOf", "oneOf", "allOf"]
            .iter()
            .find_map(|keyword| schema[*keyword].as_array());
        if let Some(kinds) = kinds {
            let mut names: Vec<String> = Vec::new();
            for kind in kinds {
                let name = self.type_of(kind);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            return names.join(" or ");
        }
        if !schema["const"].is_null() {
            return code(&schema["const"]);
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.iter().map(code).collect::<Vec<_>>().join(", ");
        }
        match &schema["type"] {
            Value::String(kind) => self.type_name(kind, schema),
            Value::Array(kinds) => {
                let names: Vec<String> = kinds
                    .iter()
                    .map(|kind| self.type_name(text(kind), schema))
                    .collect();
                names.join(" or ")
            }
            _ => "any".to_owned(),
        }
    }

    /// Returns the type of a schema with this `type`.
    fn type_name(&mut self, kind: &str, schema: &'d Value) -> String {
        match (
            kind,
            &schema["items"],
            &schema["additionalProperties"],
            &schema["format"],
        ) {
            ("array", items @ Value::Object(_), ..) => match self.type_of(items) {
                kinds if kinds.contains(" or ") => format!("array of ({kinds})"),
                kind => format!("array of {kind}"),
            },
            ("object", _, values @ Value::Object(inner), _) if !inner.is_empty() => {
                format!("object with values: {}", self.type_of(values))
            }
            ("string", _, _, Value::String(format)) => format!("string ({})", escape(format)),
            ("null", ..) => "<code>null</code>".to_owned(),
            _ => escape(kind),
        }
    }

    /// Returns a link to an object of the page, or the type of a component that is not an object.
    fn referenced(&mut self, reference: &'d str) -> String {
        let schema = resolve(self.document, reference);
        if !schema["properties"].is_object() {
            return self.type_of(schema);
        }
        let name = reference.rsplit('/').next().unwrap_or_default();
        if !self.objects.contains(&name) {
            self.objects.push(name);
        }
        format!("<a href=\"#{name}\">{name}</a>", name = escape(name))
    }
}

fn code(value: &Value) -> String {
    let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("<code>{}</code>", escape(&word))
}

fn table(rows: &str) -> String {
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"fields\"><thead><tr><th scope=\"col\">Name</th>\
         <th scope=\"col\">Type</th><th scope=\"col\">Default</th><th scope=\"col\">Description</th></tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    )
}

/// Returns the bounds of a schema in words, without those that no value reaches and patterns that nobody can read.
fn bounds(schema: &Value) -> Option<String> {
    let range = |min: &str, max: &str, unit: &str| {
        let (min, max) = (&schema[min], &schema[max]);
        match (min.is_null(), max.is_null() || *max == Slot::UNBOUNDED) {
            (true, true) => None,
            (false, true) => Some(format!("at least {min}{unit}")),
            (true, false) => Some(format!("at most {max}{unit}")),
            (false, false) => Some(format!("{min} to {max}{unit}")),
        }
    };
    let above = &schema["exclusiveMinimum"];
    let bounds = [
        (!above.is_null()).then(|| format!("above {above}")),
        range("minimum", "maximum", ""),
        range("minLength", "maxLength", " characters"),
        range("minItems", "maxItems", " items"),
        schema["pattern"]
            .as_str()
            .filter(|pattern| pattern.len() <= LONGEST_PATTERN)
            .map(|pattern| format!("pattern {pattern}")),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    (!bounds.is_empty()).then(|| bounds.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_and_bounds_are_words() {
        let document = json!({ "components": { "schemas": {
            "Word": { "type": "string", "enum": ["a", "b"] },
            "Thing": { "type": "object", "properties": { "x": { "type": "integer" } } },
        } } });
        let check = |schema: Value, kind: &str, of: Option<&str>| {
            assert_eq!(Schemas::of(&document).type_of(&schema), kind);
            assert_eq!(bounds(&schema).as_deref(), of);
        };
        check(
            json!({ "type": "integer", "minimum": 1, "maximum": 100 }),
            "integer",
            Some("1 to 100"),
        );
        check(json!({ "type": "string", "format": "uri" }), "string (uri)", None);
        check(
            json!({ "type": "integer", "minimum": 1, "maximum": Slot::UNBOUNDED }),
            "integer",
            Some("at least 1"),
        );
        check(
            json!({ "type": "string", "pattern": "a|".repeat(31) }),
            "string",
            None,
        );
        let row = Schemas::of(&document).row("x", "", false, &json!({ "type": ["string", "null"] }), "");
        assert!(row.contains("<td>string</td>"), "{row}");
        check(
            json!({ "type": "array", "maxItems": 5, "items": { "$ref": "#/components/schemas/Thing" } }),
            "array of <a href=\"#Thing\">Thing</a>",
            Some("at most 5 items"),
        );
        check(
            json!({ "anyOf": [{ "$ref": "#/components/schemas/Word" }, { "type": "null" }] }),
            "<code>a</code>, <code>b</code> or <code>null</code>",
            None,
        );
    }
}
