//! Lines of a table as programs for tables read them (RFC 4180). A cell that such a program would take for a formula is
//! made plain text, since its content comes from fetched pages.

/// One line with its end.
pub fn csv_line<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        assert_eq!(
            csv_line(["https://e.com/a,b", "say \"hi\"", "", "=1+1", "a\nb"]),
            "\"https://e.com/a,b\",\"say \"\"hi\"\"\",,'=1+1,\"a\nb\"\r\n"
        );
    }
}
