//! Formulas of workbooks without a result. `office_oxide` returns the formula, unless its cell has an empty value, as some
//! writers add. So that is removed before the file is read.

/// Values without content.
const EMPTY: [&str; 3] = ["<v></v>", "<v/>", "<v />"];

/// Returns the XML of a sheet without the empty values of formulas; `None` if it has none.
pub(super) fn without_empty_results(xml: &str) -> Option<String> {
    const CELL: &str = "<c ";
    if !EMPTY.iter().any(|empty| xml.contains(empty)) {
        return None;
    }
    let mut cells = xml.split(CELL);
    let mut out = cells.next()?.to_owned();
    for cell in cells {
        out.push_str(CELL);
        let (attributes, content) = cell.split_once('>').unwrap_or_default();
        // The result of a formula of type `str` may be an empty text.
        let is_missing = content.starts_with("<f") && !attributes.contains("t=\"str\"");
        let empty = EMPTY
            .iter()
            .filter(|_| is_missing)
            .find_map(|empty| cell.split_once(empty));
        let (before, after) = empty.unwrap_or((cell, ""));
        out.push_str(before);
        out.push_str(after);
    }
    (out.len() < xml.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_results_are_removed() {
        let kept = "<c r=\"A1\"><v/></c><c t=\"str\"><f>A1</f><v></v></c><c r=\"B1\"><f>A1</f><v>0</v></c>";
        assert_eq!(without_empty_results(kept), None);
        let removed = "<c r=\"C1\"><f>A1</f><v></v></c><c r=\"D1\"><f t=\"shared\" si=\"0\"/><v/></c>";
        let expected = "<c r=\"C1\"><f>A1</f></c><c r=\"D1\"><f t=\"shared\" si=\"0\"/></c>";
        let found = without_empty_results(&format!("<row>{removed}{kept}</row>"));
        assert_eq!(found, Some(format!("<row>{expected}{kept}</row>")));
    }
}
