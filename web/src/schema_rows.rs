//! A JSON Schema of an object as rows of fields. Pure. The rows of a field's own fields follow it, one level deeper.

use serde_json::{Map, Value, json};

/// The types that a row offers, with their labels.
pub const TYPES: [(&str, &str); 7] = [
    ("string", "string"),
    ("number", "number"),
    ("integer", "integer"),
    ("boolean", "boolean"),
    ("array", "strings"),
    ("object", "object"),
    ("objects", "objects"),
];

/// One field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaRow {
    /// Name of the field.
    pub name: String,
    /// One of [`TYPES`].
    pub kind: &'static str,
    /// What the field contains.
    pub description: String,
    /// Whether the field is required.
    pub required: bool,
    /// Number of objects around it.
    pub depth: usize,
}

impl SchemaRow {
    /// Creates a row without a name.
    pub fn new(depth: usize) -> Self {
        Self {
            name: String::new(),
            kind: TYPES[0].0,
            description: String::new(),
            required: false,
            depth,
        }
    }

    /// Returns whether the field has fields of its own.
    pub fn is_object(&self) -> bool {
        matches!(self.kind, "object" | "objects")
    }
}

/// Returns how many rows after the first belong to it.
pub fn own_rows(rows: &[SchemaRow]) -> usize {
    let Some((first, below)) = rows.split_first() else {
        return 0;
    };
    below.iter().take_while(|row| row.depth > first.depth).count()
}

/// Returns the rows of a schema, or `None` if rows cannot represent it.
pub fn rows_of(schema: &Value) -> Option<Vec<SchemaRow>> {
    rows_of_object(schema.as_object()?, &["type", "properties", "required"], 0)
}

fn rows_of_object(schema: &Map<String, Value>, known: &[&str], depth: usize) -> Option<Vec<SchemaRow>> {
    let is_known = |name: &String| known.contains(&name.as_str());
    if !schema.keys().all(is_known) || schema.get("type") != Some(&Value::from("object")) {
        return None;
    }
    let required: Vec<&str> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut rows = Vec::new();
    for (name, property) in schema
        .get("properties")
        .map_or(Some(&Map::new()), Value::as_object)?
    {
        let property = property.as_object()?;
        let (kind, below) = kind_of(property, depth + 1)?;
        let description = property.get("description").and_then(Value::as_str);
        rows.push(SchemaRow {
            name: name.clone(),
            kind,
            description: description.unwrap_or_default().to_owned(),
            required: required.contains(&name.as_str()),
            depth,
        });
        rows.extend(below);
    }
    Some(rows)
}

/// Returns the type of a field, and the rows of its own fields.
fn kind_of(property: &Map<String, Value>, depth: usize) -> Option<(&'static str, Vec<SchemaRow>)> {
    let has_only = |names: &[&str]| property.keys().all(|name| names.contains(&name.as_str()));
    let kind = property.get("type")?.as_str()?;
    match (kind, property.get("items")) {
        ("object", None) => {
            let known = ["type", "properties", "required", "description"];
            Some(("object", rows_of_object(property, &known, depth)?))
        }
        ("array", items) if has_only(&["type", "items", "description"]) => match items {
            Some(items) if *items != json!({ "type": "string" }) => {
                let known = ["type", "properties", "required"];
                Some(("objects", rows_of_object(items.as_object()?, &known, depth)?))
            }
            _ => Some(("array", Vec::new())),
        },
        (_, None) if has_only(&["type", "description"]) => {
            let (kind, _) = TYPES[..4].iter().find(|(plain, _)| *plain == kind)?;
            Some((kind, Vec::new()))
        }
        _ => None,
    }
}

/// Returns the schema of the rows, or `None` if none has a name.
pub fn schema_of(rows: &[SchemaRow]) -> Option<Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let mut rest = rows;
    while let [row, below @ ..] = rest {
        let (own, next) = below.split_at(own_rows(rest));
        rest = next;
        if row.name.trim().is_empty() {
            continue;
        }
        let fields = || schema_of(own).unwrap_or_else(|| json!({ "type": "object" }));
        let mut property = match row.kind {
            "array" => json!({ "type": "array", "items": { "type": "string" } }),
            "object" => fields(),
            "objects" => json!({ "type": "array", "items": fields() }),
            kind => json!({ "type": kind }),
        };
        if !row.description.is_empty() {
            property["description"] = Value::from(row.description.as_str());
        }
        if row.required {
            required.push(row.name.trim());
        }
        properties.insert(row.name.trim().to_owned(), property);
    }
    (!properties.is_empty()).then(|| {
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = Value::from(required);
        }
        schema
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_schemas_convert_both_ways() {
        let schema = json!({
            "type": "object",
            "properties": {
                "price": {"type": "number", "description": "in euro"},
                "shop": {
                    "type": "object",
                    "properties": {"place": {"type": "object"}, "open": {"type": "boolean"}},
                    "required": ["open"],
                    "description": "who sells it",
                },
                "tags": {"type": "array", "items": {"type": "string"}},
                "variants": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"size": {"type": "integer"}}},
                },
            },
            "required": ["price"],
        });
        let rows = rows_of(&schema).unwrap();
        let mut shapes: Vec<_> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.depth, row.required))
            .collect();
        assert_eq!(schema_of(&rows), Some(schema));
        shapes.sort_unstable();
        let expected = [
            ("open", 1, true),
            ("place", 1, false),
            ("price", 0, true),
            ("shop", 0, false),
            ("size", 1, false),
            ("tags", 0, false),
            ("variants", 0, false),
        ];
        assert_eq!(shapes, expected);
        assert_eq!(schema_of(&[]), None);
    }

    #[test]
    fn a_row_without_a_name_is_left_out_with_its_fields() {
        let named = |name: &str, kind, depth| SchemaRow {
            name: name.to_owned(),
            kind,
            ..SchemaRow::new(depth)
        };
        let rows = [
            named("", "object", 0),
            named("a", "string", 1),
            named(" b ", "string", 0),
        ];
        assert_eq!((own_rows(&rows), own_rows(&rows[1..]), own_rows(&[])), (1, 0, 0));
        let expected = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        assert_eq!(schema_of(&rows), Some(expected));
    }

    #[test]
    fn schemas_beyond_rows_are_edited_as_json() {
        for schema in [
            json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": true}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "number"}}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "items": {"type": "string"}}}}),
            json!({"type": "object", "properties": []}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "array"}),
            json!([]),
        ] {
            assert_eq!(rows_of(&schema), None, "{schema}");
        }
    }
}
