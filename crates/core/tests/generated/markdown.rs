//! Tables of fields for the guide.
//!
//! A table is the name of a field table, optionally followed by `only` and the names of its fields, or by `without`
//! and the names of fields or of another field table.

use harvestman_core::api::fields::{Field, Schema};

use crate::tables::{Table, named, shown, tagged};
use crate::words::{ALL, Links, default, inner, split_help, type_of};

/// Returns the table that a marker names.
pub(crate) fn table(marker: &str, links: Links) -> String {
    let mut words = marker.split(' ');
    let mut table = named(words.next().unwrap());
    let choice = words.next();
    let names: Vec<&str> = words.collect();
    if let (Table::Fields(fields), Some(choice)) = (&mut table, choice) {
        choose(fields, choice, &names);
    }
    match table {
        Table::Fields(fields) => {
            let mut rows = Vec::new();
            push_rows(&mut rows, &fields, "", links);
            render(&["Field", "Type", "Default", "What it does"], &rows)
        }
        Table::Variants(title, schema) => render(
            &[title, "Field", "Type", "Default", "What it does"],
            &variants(&schema, links),
        ),
    }
}

fn choose(fields: &mut Vec<Field>, choice: &str, names: &[&str]) {
    let is_table = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
    let mut listed: Vec<&str> = Vec::new();
    for name in names {
        match is_table(name).then(|| named(name)) {
            Some(Table::Fields(others)) => listed.extend(others.iter().map(|field| field.name)),
            Some(Table::Variants(..)) => panic!("{name} is not a table of fields"),
            None => {
                assert!(
                    fields.iter().any(|field| field.name == *name),
                    "no field is called {name}"
                );
                listed.push(name);
            }
        }
    }
    match choice {
        "only" => {
            let find = |name: &&str| fields.iter().find(|field| field.name == *name).cloned();
            *fields = listed.iter().filter_map(find).collect();
        }
        "without" => fields.retain(|field| !listed.contains(&field.name)),
        _ => panic!("{choice} is neither `only` nor `without`"),
    }
}

fn variants(schema: &Schema, links: Links) -> Vec<Vec<String>> {
    let Schema::OneOf(kinds) = schema else {
        panic!("a union");
    };
    let mut rows = Vec::new();
    for (tag, fields) in kinds.iter().filter_map(|kind| tagged(kind.object()?)) {
        let mut own = Vec::new();
        push_rows(&mut own, fields, "", links);
        for (index, mut row) in own.into_iter().enumerate() {
            row.insert(
                0,
                if index == 0 {
                    format!("`{tag}`")
                } else {
                    String::new()
                },
            );
            rows.push(row);
        }
    }
    rows
}

/// Adds a row for each field, and for the fields of objects in it that have no section of their own.
fn push_rows(rows: &mut Vec<Vec<String>>, fields: &[Field], path: &str, links: Links) {
    for field in shown(fields) {
        let name = format!("{path}{}", field.name);
        let (help, stated) = split_help(field);
        let default = match (field.required, default_text(field)) {
            (true, _) => "required".to_owned(),
            (false, Some(default)) => default,
            (false, None) => match stated.unwrap_or_default() {
                number if number.parse::<f64>().is_ok() => format!("`{number}`"),
                words => words.to_owned(),
            },
        };
        rows.push(vec![
            format!("`{name}`"),
            type_of(field, links),
            default,
            help.to_owned(),
        ]);
        if let Some((suffix, fields)) = inner(&field.schema) {
            push_rows(rows, fields, &format!("{name}{suffix}."), links);
        }
    }
}

fn default_text(field: &Field) -> Option<String> {
    let default = default(field)?;
    Some(match default.as_str() {
        ALL => default,
        _ => format!("`{default}`"),
    })
}

fn render(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        // An empty cell is one space wide.
        table.push_str(&format!("| {} |\n", cells.join(" | ")).replace("|  |", "| |"));
    }
    table
}
