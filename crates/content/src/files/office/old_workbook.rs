//! Times in workbooks before 2007. `office_oxide` takes them for numbers or dates, and does not return the number
//! formats of cells, by which [`super::time`] shows them.

use std::collections::HashMap;
use std::io::Cursor;

use office_oxide::cfb::CfbReader;
use office_oxide::ir::{DocumentIR, Element, InlineContent, TableCell};
use office_oxide::xls::{CellValue, Sheet, XlsDocument};

use super::time::is_time;

/// Record types ([MS-XLS] sections 2.4.126 and 2.4.353).
const FORMAT: u16 = 0x041E;
const XF: u16 = 0x00E0;

/// Sets number and format of the cells that show a time.
pub(super) fn set_time_formats(body: &[u8], workbook: &XlsDocument, ir: &mut DocumentIR) {
    let stream = CfbReader::new(Cursor::new(body)).and_then(|mut file| file.open_stream("Workbook"));
    let Ok(stream) = stream else { return };
    let formats = time_formats(&stream);
    for (sheet, section) in workbook.sheets.iter().zip(&mut ir.sections) {
        let table = section.elements.iter_mut().find_map(|element| match element {
            Element::Table(table) => Some(table),
            _ => None,
        });
        for (at, row) in table.into_iter().flat_map(|table| &mut table.rows).enumerate() {
            set_formats_of_row(sheet, at, &mut row.cells, &formats);
        }
    }
}

/// Sets the formats of a row. Its cells are those of the sheet without those that a merged cell covers.
fn set_formats_of_row(sheet: &Sheet, at: usize, cells: &mut [TableCell], formats: &[Option<String>]) {
    let (Some(values), Some(styles)) = (sheet.rows.get(at), sheet.xf.get(at)) else {
        return;
    };
    let format = |style: &u16| formats.get(usize::from(*style)).and_then(Option::as_ref);
    if styles.iter().all(|style| format(style).is_none()) {
        return;
    }
    let mut cells = cells.iter_mut().peekable();
    for (column, (value, style)) in values.iter().zip(styles).enumerate() {
        let text = sheet.display_text(at, column).unwrap_or_default();
        let Some(cell) = cells.next_if(|cell| text_of(cell) == text) else {
            continue;
        };
        if let CellValue::Number(number) = value {
            (cell.raw_number, cell.number_format) = (Some(*number), format(style).cloned());
        }
    }
}

fn text_of(cell: &TableCell) -> &str {
    match cell.content.as_slice() {
        [Element::Paragraph(only)] => match only.content.as_slice() {
            [InlineContent::Text(span)] => &span.text,
            _ => "",
        },
        _ => "",
    }
}

/// Returns the format of each cell style that shows a time.
fn time_formats(stream: &[u8]) -> Vec<Option<String>> {
    let mut codes: HashMap<u16, String> = HashMap::new();
    let mut styles = Vec::new();
    let mut rest = stream;
    while let Some((head, after)) = rest.split_first_chunk::<4>() {
        let [kind, length] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_le_bytes);
        let Some((data, after)) = after.split_at_checked(usize::from(length)) else {
            break;
        };
        rest = after;
        match kind {
            XF => styles.push(number_at(data, 2).unwrap_or(0)),
            FORMAT => codes.extend(number_at(data, 0).zip(data.get(2..).and_then(string))),
            _ => {}
        }
    }
    let format = |number: u16| {
        let code = codes.get(&number).cloned();
        code.or_else(|| Some(built_in_time(number)?.to_owned()))
            .filter(|code| is_time(code))
    };
    styles.into_iter().map(format).collect()
}

fn number_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?]))
}

/// Reads a string: its length in characters, a flag for characters of two bytes, the characters.
fn string(data: &[u8]) -> Option<String> {
    let length = usize::from(number_at(data, 0)?);
    let is_wide = data.get(2)? & 1 == 1;
    let text = data.get(3..3 + length * if is_wide { 2 } else { 1 })?;
    let units: Vec<u16> = match is_wide {
        true => text
            .chunks_exact(2)
            .map(|two| u16::from_le_bytes([two[0], two[1]]))
            .collect(),
        false => text.iter().map(|byte| u16::from(*byte)).collect(),
    };
    Some(String::from_utf16_lossy(&units))
}

fn built_in_time(number: u16) -> Option<&'static str> {
    match number {
        18 => Some("h:mm AM/PM"),
        19 => Some("h:mm:ss AM/PM"),
        20 => Some("h:mm"),
        21 => Some("h:mm:ss"),
        45 => Some("mm:ss"),
        46 => Some("[h]:mm:ss"),
        47 => Some("mm:ss.0"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use office_oxide::ir::{Paragraph, TextSpan};

    use super::*;

    #[test]
    fn cells_get_the_formats_that_show_times() {
        let record = |kind: u16, data: &[u8]| {
            let length = u16::try_from(data.len()).unwrap();
            [&kind.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
        };
        let stream = [
            record(FORMAT, b"\xA4\0\x07\0\0[h]:mm!"),
            record(FORMAT, b"\xA5\0\x04\0\x010\0.\x000\0!\0"),
            record(XF, b"\0\0\0\0"),
            record(XF, b"\0\0\x14\0"),
            record(XF, b"\0\0\xA4\0"),
            record(XF, b"\0\0\xA5\0"),
            record(XF, b""),
        ];
        let formats = time_formats(&stream.concat());
        let expected = [None, Some("h:mm"), Some("[h]:mm!"), None, None];
        assert_eq!(formats, expected.map(|code| code.map(str::to_owned)));

        let number = CellValue::Number;
        let sheet = Sheet {
            rows: vec![vec![number(0.5), CellValue::Empty, number(0.25), number(1.5)]],
            xf: vec![vec![1, 0, 0, 2]],
            ..Sheet::default()
        };
        let mut cells = ["0.5", "0.25", "1.5"].map(|text| TableCell {
            content: vec![Element::Paragraph(Paragraph {
                content: vec![InlineContent::Text(TextSpan::plain(text))],
                ..Paragraph::default()
            })],
            ..TableCell::default()
        });
        set_formats_of_row(&sheet, 0, &mut cells, &formats);
        let found = cells.map(|cell| (cell.raw_number, cell.number_format));
        let expected = [(0.5, Some("h:mm")), (0.25, None), (1.5, Some("[h]:mm!"))];
        assert_eq!(
            found,
            expected.map(|(number, code)| (Some(number), code.map(str::to_owned)))
        );
    }
}
