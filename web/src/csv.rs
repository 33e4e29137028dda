//! CSV lines (RFC 4180). Content comes from fetched pages, so a cell that a spreadsheet would evaluate as a formula
//! is prefixed with an apostrophe.

/// Returns one line with its CRLF.
pub fn csv_line<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula {
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
