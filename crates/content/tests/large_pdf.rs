//! Limits of what is read of large and hostile PDF files.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

#[path = "files/conversion.rs"]
mod conversion;
#[allow(unreachable_pub, reason = "shared with the whole-product tests")]
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "files/fixtures.rs"]
mod fixtures;

use conversion::{markdown, read_as};
use fixtures::{Pdf, line, table, text};
use harvestman_content::files::{FileDocument, FileType};

fn read_pdf(body: &[u8]) -> FileDocument {
    read_as(FileType::Pdf, body).unwrap()
}

/// Reads a page that is too complex. Returns its Markdown.
#[track_caller]
fn read_complex(page: String, warning: &str) -> String {
    let body = Pdf {
        pages: vec![page],
        ..Pdf::default()
    };
    let document = read_pdf(&body.bytes());
    assert_eq!(document.warnings, [warning]);
    markdown(&document)
}

const TOO_MANY_LINES: &str =
    "Lines were ignored on 1 of 1 pages, which draw too many; tables on them may be missing.";
const TOO_MANY_TEXTS: &str =
    "Too many texts on 1 of 1 pages to arrange them; they are in the order of the file.";

#[test]
fn a_page_with_too_many_lines_keeps_its_text() {
    let boxes: String = (0..10_000)
        .map(|at| format!("{} {} 10 10 re S\n", at % 500, at / 500 * 12))
        .collect();
    let text = line(24, 700, "Herons")
        + &line(12, 660, "They wade in shallow water and wait for")
        + &line(12, 646, "fish, which may take hours.");
    let read = read_complex(boxes + &text, TOO_MANY_LINES);
    assert_eq!(
        read,
        "# Herons\n\nThey wade in shallow water and wait for fish, which may take hours."
    );
}

#[test]
fn every_page_of_a_long_pdf_is_read() {
    let page = |number: usize| {
        let title = match number {
            1 => "Herons",
            401 => "Egrets",
            _ => "They wade in shallow water.",
        };
        line(12, 600, title) + &table(500, &[["Kind", "Height"], ["Grey", &format!("{number} cm")]])
    };
    let body = Pdf {
        pages: (1..=450).map(page).collect(),
        outline: &[("Herons", 0), ("Egrets", 400)],
        fields: &[("name", "A. Wader")],
        ..Pdf::default()
    };
    let document = read_pdf(&body.bytes());
    assert_eq!(document.warnings, [""; 0]);
    assert_eq!(document.total_pages, Some(450));
    assert_eq!(document.pages.len(), 450);
    for (number, page) in (1..).zip(&document.pages) {
        assert_eq!(page.number, number);
        let height = format!("<td>{number} cm</td>");
        assert!(page.html.contains(&height), "{}", page.html);
    }
    let has_heading = |number: usize| document.pages[number - 1].html.contains("</h1>");
    assert_eq!([1, 2, 401].map(has_heading), [true, false, true]);
    assert!(document.pages[449].html.contains("A. Wader"));
}

#[test]
fn a_page_with_too_many_texts_in_one_line_keeps_them_in_their_order() {
    let page = (0..1500)
        .map(|at| text(12, 72, 700, &format!("heron{at}.")))
        .collect();
    let expected: Vec<String> = (0..1500).map(|at| format!("heron{at}.")).collect();
    let read = read_complex(page, TOO_MANY_TEXTS);
    assert_eq!(read.split_whitespace().collect::<Vec<_>>(), expected);
}

#[test]
fn a_page_with_too_many_texts_keeps_its_lines() {
    let lines = |height: u32| {
        let words = (0..500).map(|at| text(1, at + 50, height, &format!("{}", at % 10)));
        words.collect::<String>()
    };
    let read = read_complex((100..141).map(lines).collect(), TOO_MANY_TEXTS);
    assert_eq!(read.matches("0 1 2 3 4 5 6 7 8 9").count(), 50 * 41);
}

#[test]
fn forms_that_a_page_repeats_too_often_are_left_out() {
    let padding = " ".repeat(1 << 20);
    let body = Pdf {
        pages: vec![line(12, 700, "They wade.") + &"/Fm0 Do\n".repeat(100) + &line(12, 600, "They wait.")],
        forms: &[
            "/Fm1 Do /Fm1 Do".to_owned(),
            padding + &line(12, 650, "They fly."),
        ],
        ..Pdf::default()
    };
    let document = read_pdf(&body.bytes());
    let warning = "Parts of 1 of 1 pages were left out: at most 32 MiB of repeated parts are read per page.";
    assert!(
        document.warnings.contains(&warning.to_owned()),
        "{:?}",
        document.warnings
    );
    let read = markdown(&document);
    assert_eq!(read.matches("They fly.").count(), 32);
    assert!(
        read.starts_with("They wade.") && read.contains("They wait."),
        "{read}"
    );
}
