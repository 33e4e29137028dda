//! Numbers in cells of workbooks that `office_oxide` writes in another way than their format says.

use office_oxide::ir::{Element, TableCell};

use super::{plain, time};

/// Returns the text of a cell; `None` if it is as `office_oxide` writes it.
pub(super) fn text(cell: &TableCell) -> Option<String> {
    time::text(cell)
        .or_else(|| fraction(cell))
        .or_else(|| currency(cell))
}

/// Returns the text of a cell that consists of one paragraph.
pub(super) fn text_of_cell(cell: &TableCell) -> Option<String> {
    match cell.content.as_slice() {
        [Element::Paragraph(only)] => Some(plain(&only.content)),
        _ => None,
    }
}

/// Returns the text of a cell whose format puts a currency after the number. `office_oxide` puts it before.
fn currency(cell: &TableCell) -> Option<String> {
    let (number, rest) = cell.number_format.as_deref()?.split_once("[$")?;
    let symbol = rest
        .split(['-', ']'])
        .next()
        .filter(|symbol| !symbol.is_empty())?;
    let is_after = number.contains(['0', '#']) && !number.contains(';');
    let text = text_of_cell(cell).filter(|_| is_after)?;
    let (sign, digits) = text.split_once(symbol)?;
    let space = number.strip_prefix(number.trim_end()).unwrap_or_default();
    Some(format!("{sign}{}{space}{symbol}", digits.trim()))
}

/// Returns the number of a cell whose format shows a fraction, which `office_oxide` reduces to a slash.
fn fraction(cell: &TableCell) -> Option<String> {
    let is_slash = text_of_cell(cell)?.trim() == "/";
    cell.raw_number
        .filter(|_| is_slash)
        .map(|number| number.to_string())
}

#[cfg(test)]
mod tests {
    use office_oxide::ir::{InlineContent, Paragraph, TextSpan};

    use super::*;

    #[test]
    fn a_currency_is_where_its_format_puts_it() {
        let check = |format: &str, text: &str, expected: Option<&str>| {
            let cell = TableCell {
                content: vec![Element::Paragraph(Paragraph {
                    content: vec![InlineContent::Text(TextSpan::plain(text))],
                    ..Paragraph::default()
                })],
                number_format: Some(format.to_owned()),
                ..TableCell::default()
            };
            assert_eq!(currency(&cell).as_deref(), expected, "{format}");
        };
        check("#,##0.00 [$€-407]", "€1,234.50 ", Some("1,234.50 €"));
        check(
            "#,##0.00\\ [$€-407];[RED]-#,##0.00\\ [$€-407]",
            "-€1.50",
            Some("-1.50 €"),
        );
        check("0[$CHF]", "CHF7", Some("7CHF"));
        check("[$€-407] #,##0.00", "€ 1.50", None);
        check("0;[$€-407] 0", "€ 1", None);
        check("[$-409]0.0", "1.5", None);
    }
}
