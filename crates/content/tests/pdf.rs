//! Conversion of PDF to Markdown, from pages drawn here.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

#[path = "files/conversion.rs"]
mod conversion;
#[allow(unreachable_pub, reason = "shared with the whole-product tests")]
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "files/fixtures.rs"]
mod fixtures;

use conversion::{markdown, read_as};
use expect_test::{Expect, expect};
use fixtures::{BULLET, Pdf, line, scan, table, text};
use harvestman_content::files::{FileDocument, FileRequest, FileType, ScanRequest, read};

fn read_pdf(body: &[u8]) -> FileDocument {
    read_as(FileType::Pdf, body).unwrap()
}

#[track_caller]
fn check(body: &[u8], expected: Expect) {
    expected.assert_eq(&markdown(&read_pdf(body)));
}

fn pdf(pages: &[Vec<(u32, u32, &str)>]) -> Vec<u8> {
    let line = |(size, height, text): &(u32, u32, &str)| line(*size, *height, text);
    drawn(
        pages
            .iter()
            .map(|lines| lines.iter().map(line).collect())
            .collect(),
    )
}

fn drawn(pages: Vec<String>) -> Vec<u8> {
    Pdf {
        pages,
        ..Pdf::default()
    }
    .bytes()
}

#[test]
fn a_pdf_keeps_headings_paragraphs_and_lists() {
    let body = pdf(&[vec![
        (24, 700, "Herons"),
        (12, 660, "They wade in shallow water and wait for"),
        (12, 646, "fish, which may take hours."),
        (16, 610, "Where they live"),
        (12, 580, "Near lakes (and rivers) in much of the world."),
    ]]);
    check(
        &body,
        expect![[r#"
        # Herons

        They wade in shallow water and wait for fish, which may take hours.

        ## Where they live

        Near lakes (and rivers) in much of the world."#]],
    );
}

#[test]
fn running_headers_and_page_numbers_of_a_pdf_are_dropped_and_paragraphs_joined() {
    let page = |number, text| {
        let first = (12, 700, text);
        let last = (12, 680, "There are many of them, in all parts of the world.");
        vec![
            (9, 760, "Of Herons, second edition"),
            first,
            last,
            (9, 40, number),
        ]
    };
    let body = pdf(&[
        page("1", "They wade in shallow water."),
        page("2", "They wait for fish."),
        vec![
            (9, 760, "Of Herons, second edition"),
            (
                12,
                700,
                "A heron that stands at the edge of the water for the whole day is",
            ),
            (9, 40, "3"),
        ],
        page("4", "not asleep."),
    ]);
    check(
        &body,
        expect![[r#"
        They wade in shallow water. There are many of them, in all parts of the world.

        They wait for fish. There are many of them, in all parts of the world.

        A heron that stands at the edge of the water for the whole day is not asleep. There are many of them, in all parts of the world."#]],
    );
}

#[test]
fn paragraphs_a_small_gap_or_an_indent_apart_are_separate() {
    let sentence = "They wade in shallow water, and they may wait for fish for hours.";
    let body = pdf(&[vec![
        (12, 700, sentence),
        (12, 686, sentence),
        (12, 672, "In winter they go south."),
        (12, 652, sentence),
        (12, 638, sentence),
        (12, 624, sentence),
        (12, 604, sentence),
        (12, 590, sentence),
    ]]);
    check(
        &body,
        expect![[r#"
        They wade in shallow water, and they may wait for fish for hours. They wade in shallow water, and they may wait for fish for hours. In winter they go south.

        They wade in shallow water, and they may wait for fish for hours. They wade in shallow water, and they may wait for fish for hours. They wade in shallow water, and they may wait for fish for hours.

        They wade in shallow water, and they may wait for fish for hours. They wade in shallow water, and they may wait for fish for hours."#]],
    );
    let paragraph = |height| {
        text(
            12,
            90,
            height,
            "They wade in shallow water, and they may wait for a fish,",
        ) + &text(
            12,
            72,
            height - 14,
            "sometimes for hours, but never for a day, as many people say,",
        ) + &text(12, 72, height - 28, "while others fly.")
    };
    check(
        &drawn(vec![paragraph(700) + &paragraph(658) + &paragraph(616)]),
        expect![[r#"
            They wade in shallow water, and they may wait for a fish, sometimes for hours, but never for a day, as many people say, while others fly.

            They wade in shallow water, and they may wait for a fish, sometimes for hours, but never for a day, as many people say, while others fly.

            They wade in shallow water, and they may wait for a fish, sometimes for hours, but never for a day, as many people say, while others fly."#]],
    );
}

#[test]
fn list_items_of_a_pdf_are_recognized_by_their_markers_and_nested_by_their_indent() {
    let item =
        |left, height, marker, words| text(12, left, height, marker) + &text(12, left + 18, height, words);
    let body = [
        line(
            12,
            700,
            "Herons and egrets are birds that wade, and there are many kinds:",
        ),
        item(
            90,
            686,
            BULLET,
            "Grey herons, which live near lakes and rivers in much of the",
        ),
        text(12, 108, 672, "world, and which are"),
        item(108, 658, "-", "tall"),
        item(108, 644, "-", "patient"),
        item(90, 630, BULLET, "Purple herons"),
        line(12, 616, "They do two things all day long:"),
        item(90, 602, "1", "wade"),
        item(90, 588, "2", "wait"),
        line(12, 574, "They are not asleep."),
    ];
    check(
        &drawn(vec![body.concat()]),
        expect![[r#"
        Herons and egrets are birds that wade, and there are many kinds:

        - Grey herons, which live near lakes and rivers in much of the world, and which are
          - tall
          - patient
        - Purple herons

        They do two things all day long:

        1. wade
        2. wait

        They are not asleep."#]],
    );
}

/// Returns a circle of 4 points, drawn as browsers do when they print.
fn circle(left: u32, height: u32, paint: &str) -> String {
    format!(
        "q .25 0 0 -.25 {left} {height} cm 16 8 m 16 12.4 12.4 16 8 16 c 3.6 16 0 12.4 0 8 c 0 3.6 3.6 0 8 0 c \
         12.4 0 16 3.6 16 8 c h {paint} Q\n"
    )
}

#[test]
fn list_items_of_a_pdf_are_recognized_by_bullets_that_are_shapes() {
    let item =
        |left, height, paint, words| circle(left, height + 6, paint) + &text(12, left + 12, height, words);
    let body = [
        line(
            12,
            700,
            "Herons and egrets are birds that wade. There are many kinds:",
        ),
        item(
            90,
            686,
            "f",
            "Grey herons live near lakes and rivers in much of the world",
        ),
        text(12, 102, 672, "and are known to be"),
        item(108, 658, "S", "tall"),
        item(108, 644, "S", "patient"),
        item(90, 630, "f", "Purple herons"),
        line(
            12,
            602,
            "A circle in a line of text, a box and a rule are no bullets.",
        ),
        circle(200, 608, "f"),
        line(12, 574, "They are not asleep."),
        "60 572 10 10 re S 60 560 4 0.5 re f\n".to_owned(),
        line(12, 546, "Nor are egrets."),
    ];
    check(
        &drawn(vec![body.concat()]),
        expect![[r#"
        Herons and egrets are birds that wade. There are many kinds:

        - Grey herons live near lakes and rivers in much of the world and are known to be
          - tall
          - patient
        - Purple herons

        A circle in a line of text, a box and a rule are no bullets.

        They are not asleep.

        Nor are egrets."#]],
    );
}

#[test]
fn a_heading_below_two_columns_of_a_pdf_comes_after_them() {
    let column = |left: u32, words: &str| -> String {
        (0..6)
            .map(|at| {
                text(
                    10,
                    left,
                    700 - 12 * at,
                    &format!("{words} {at} wade in shallow water and wait"),
                )
            })
            .collect()
    };
    let page = line(
        10,
        740,
        "Herons and egrets are birds that wade; the first ones are grey, the second ones are white and smaller.",
    ) + &column(72, "Herons")
        + &column(320, "Egrets")
        + &line(16, 600, "Storks")
        + &line(
            10,
            570,
            "Storks are white, too, and larger than both; they build their nests on roofs, masts and towers of towns.",
        );
    let found = markdown(&read_pdf(&drawn(vec![page])));
    let places =
        ["Herons 5", "Egrets 0", "Egrets 5", "# Storks", "Storks are"].map(|words| found.find(words));
    assert!(places.is_sorted() && places[0].is_some(), "{found}");
}

#[test]
fn raised_and_lowered_text_of_a_pdf_is_marked() {
    let page = text(12, 72, 700, "E = mc")
        + &text(8, 110, 705, "2")
        + &text(12, 115, 700, " and H")
        + &text(8, 151, 697, "2")
        + &text(12, 156, 700, "O are known to all.");
    check(
        &drawn(vec![page]),
        expect!["E = mc<sup>2</sup> and H<sub>2</sub>O are known to all."],
    );
}

#[test]
fn lines_in_a_typewriter_font_of_a_pdf_are_code() {
    let code =
        |left: u32, height: u32, text: &str| format!("BT /F2 10 Tf {left} {height} Td ({text}) Tj ET\n");
    let page = line(10, 700, "Two herons wade in the pond:")
        + &code(72, 680, "for heron in pond:")
        + &code(92, 668, "heron.wade\\(\\)")
        + &code(72, 632, "sleep")
        + &line(10, 600, "They are grey, and the pond is shallow.");
    let body = Pdf {
        pages: vec![page],
        info: "/Type /FontDescriptor /FontName /ABCDEF+CMTT10 /Flags 4",
        ..Pdf::default()
    };
    let body = String::from_utf8(body.bytes()).unwrap();
    let (before, after) = (
        "/FirstChar 1 /LastChar 1 /Widths [460] /ToUnicode 9 0 R",
        "/FontDescriptor 6 0 R",
    );
    let width = before.len();
    let body = body
        .replace("+Symbol", "+CMTT10")
        .replace(before, &format!("{after:width$}"));
    check(
        body.as_bytes(),
        expect![[r#"
            Two herons wade in the pond:

            ```
            for heron in pond:
                heron.wade()

            sleep
            ```

            They are grey, and the pond is shallow."#]],
    );
}

#[test]
fn headers_and_footers_that_a_pdf_marks_as_such_are_left_out() {
    let marked =
        |mark: &str, words: String| format!("/Artifact <</Type /{mark} /BBox [0 0 9 9]>> BDC\n{words}EMC\n");
    let lines =
        "BT /F1 9 Tf 12 TL 72 40 Td (Confidential) ' /Span <</Lang (en)>> BDC [(page) -300 (1)] TJ EMC ET\n";
    let body = [
        marked(
            "Pagination",
            text(9, 72, 770, "11/30/26") + &text(9, 300, 770, "Of herons"),
        ),
        table(750, &[["Kind", "Height"], ["Grey", "98 cm"]]),
        "/P <</MCID 0>> BDC\n".to_owned(),
        line(12, 600, "They wade in shallow (fresh) water."),
        "EMC q 1 0 0 1 72 500 cm BI /W 2 /H 1 /BPC 8 /CS /G ID (b EI Q\n".to_owned(),
        marked("Layout", line(12, 560, "This was laid out.")),
        "/Artifact BMC\n".to_owned(),
        line(12, 530, "So was this."),
        "EMC\n".to_owned(),
        marked("Pagination", lines.to_owned()),
    ]
    .concat();
    check(
        &drawn(vec![body]),
        expect![[r#"
            | Kind | Height |
            | --- | --- |
            | Grey | 98 cm |

            They wade in shallow (fresh) water.

            This was laid out.

            So was this."#]],
    );
    let nested = format!("/P {}{} BDC\n", "<</A ".repeat(100_000), ">>".repeat(100_000));
    let header = marked("Pagination", line(9, 770, "Of herons"));
    let nested = drawn(vec![nested + &line(12, 600, "They wade.") + "EMC\n" + &header]);
    assert_eq!(markdown(&read_pdf(&nested)), "They wade.");
    let no_end = drawn(vec![
        marked("Pagination", line(12, 600, "They wade.")).replace("EMC", ""),
    ]);
    assert_eq!(markdown(&read_pdf(&no_end)), "They wade.");
}

#[test]
fn the_header_and_footer_that_a_browser_prints_are_left_out() {
    // Printed by Chromium, with its default header and footer.
    check(
        include_bytes!("files/printed.pdf"),
        expect![[r#"
            They wade in shallow water and wait for fish."#]],
    );
}

#[test]
fn lines_at_the_same_place_of_both_pages_are_left_out() {
    let page = |number: &str, words: &str| {
        line(9, 760, "Of Herons, second edition")
            + &line(12, 700, words)
            + &line(12, 686, "They wait for fish, for hours.")
            + &line(9, 40, &format!("Draft of May, page {number}"))
    };
    check(
        &drawn(vec![
            page("1", "A heron that stands at the edge of the water is not asleep."),
            page("2", "Egrets are not asleep either."),
        ]),
        expect![[r#"
            A heron that stands at the edge of the water is not asleep. They wait for fish, for hours.

            Egrets are not asleep either. They wait for fish, for hours."#]],
    );
}

#[test]
fn a_table_that_page_breaks_divide_is_one_table() {
    let head = ["Kind", "Height"];
    let page = |rest: String| line(9, 760, "Of Herons, second edition") + &rest;
    check(
        &drawn(vec![
            page(
                line(12, 700, "They are tall:")
                    + &table(140, &[head, ["Grey", "98 cm"], ["Purple", "90 cm"]]),
            ),
            page(table(700, &[head, ["White", "104 cm"], ["Green", "45 cm"]])),
            page(
                table(700, &[["Night", "65 cm"], ["Squacco", "46 cm"]]) + &line(12, 600, "Some are taller."),
            ),
        ]),
        expect![[r#"
            They are tall:

            | Kind | Height |
            | --- | --- |
            | Grey | 98 cm |
            | Purple | 90 cm |
            | White | 104 cm |
            | Green | 45 cm |
            | Night | 65 cm |
            | Squacco | 46 cm |

            Some are taller."#]],
    );
}

#[test]
fn numbers_at_the_edges_of_pages_stay_in_their_tables() {
    let rows = [
        ["Kind", "Height"],
        ["Grey", "98"],
        ["Purple", "90"],
        ["White", "104"],
    ];
    let expected = "| Kind | Height |\n| --- | --- |\n| Grey | 98 |\n| Purple | 90 |\n| White | 104 |";
    for top in [785, 150, 90] {
        let document = read_pdf(&drawn(vec![table(top, &rows)]));
        assert_eq!(markdown(&document), expected, "{top}");
    }
    // Page numbers are still left out, and what is outside of the page.
    let page = table(180, &rows) + &text(12, 300, 40, "12") + &text(12, 72, 840, "Crop here");
    assert_eq!(markdown(&read_pdf(&drawn(vec![page]))), expected);
    let page = table(700, &rows) + &line(9, 40, "Of herons") + &text(9, 500, 40, "12");
    let read = markdown(&read_pdf(&drawn(vec![page])));
    assert_eq!(read, format!("{expected}\n\nOf herons"));
}

#[test]
fn nearly_equal_pages_of_a_pdf_keep_their_text() {
    let body = pdf(&["Page 1", "Page 2", "Page 3"].map(|text| vec![(12, 700, text)]));
    check(
        &body,
        expect![[r#"
        Page 1

        Page 2

        Page 3"#]],
    );
    let same = (12, 600, "The same on every page of it.");
    let body = pdf(&["Page 1", "Page 2", "Page 3"].map(|text| vec![(24, 700, text), same]));
    check(
        &body,
        expect![[r#"
            # Page 1

            The same on every page of it.

            # Page 2

            The same on every page of it.

            # Page 3

            The same on every page of it."#]],
    );
}

#[test]
fn the_outline_of_a_pdf_decides_its_headings() {
    let pages = ["HERONS", "EGRETS"].map(|title| {
        line(14, 700, title)
            + &line(12, 660, "They wade in shallow water all day.")
            + &line(12, 400, "The end.")
    });
    let body = Pdf {
        pages: pages.to_vec(),
        outline: &[("Herons", 0), ("Egrets", 1)],
        info: "/Title (Birds) /Author (A. Wader) /CreationDate (D:20240102030405Z)",
        ..Pdf::default()
    }
    .bytes();
    let document = read_pdf(&body);
    expect![[r#"
        # Herons

        They wade in shallow water all day.

        The end.

        # Egrets

        They wade in shallow water all day.

        The end."#]]
    .assert_eq(&markdown(&document));
    let said = |name: &str| {
        document
            .properties
            .iter()
            .find(|(have, _)| have == name)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!((said("title"), said("author")), (Some("Birds"), Some("A. Wader")));
    assert_eq!(said("createdTime"), Some("2024-01-02T03:04:05+00:00"));
}

#[test]
fn the_values_of_a_form_follow_its_text() {
    let body = Pdf {
        pages: vec![line(12, 700, "The name of the bird") + &line(12, 660, "Address:")],
        fields: &[("name", "A. Wader"), ("address", "")],
        ..Pdf::default()
    };
    check(
        &body.bytes(),
        expect![[r#"
            The name of the bird

            Address:

            | Field | Value |
            | --- | --- |
            | name | A. Wader |"#]],
    );
}

#[test]
fn pages_of_a_pdf_beyond_the_limit_are_counted_but_not_read() {
    let body = pdf(&[
        vec![(12, 700, "One")],
        vec![(12, 700, "Two")],
        vec![(12, 700, "Three")],
    ]);
    let request = FileRequest {
        file_type: FileType::Pdf,
        max_pages: Some(2),
        scans: ScanRequest::None,
    };
    let document = read(&request, &body).unwrap();
    assert_eq!(document.total_pages, Some(3));
    assert_eq!(
        document.pages.iter().map(|page| page.number).collect::<Vec<_>>(),
        [1, 2]
    );
    assert!(!markdown(&document).contains("Three"));
    assert_eq!(document.warnings, [""; 0]);
}

#[test]
fn a_pdf_may_follow_other_bytes_and_end_early() {
    let body = pdf(&[vec![(12, 700, "They wade.")]]);
    let read = |body: &[u8]| {
        let document = read_pdf(body);
        (markdown(&document), document.warnings)
    };
    let whole = [&b"\r\n<!-- cached -->\r\n"[..], &body].concat();
    assert_eq!(read(&whole), ("They wade.".to_owned(), Vec::new()));
    let (text, warnings) = read(&body[..body.len() - "%%EOF\n".len()]);
    assert_eq!(text, "They wade.");
    assert_eq!(warnings, ["The PDF ends early; parts of it may be missing."]);
}

#[test]
fn scanned_pages_of_a_pdf_are_reported() {
    let text = line(12, 700, "They wade in shallow water.");
    let warnings = |pages: Vec<String>| {
        let mut document = read_pdf(&drawn(pages));
        document.warn_of_textless("nobody reads them");
        document.warnings.join(" ")
    };
    assert!(warnings(vec![scan(), scan()]).starts_with("The PDF is scanned"));
    assert!(warnings(vec![text.clone(), scan()]).starts_with("1 of 2 pages"));
    assert!(warnings(vec![text.clone(), scan()]).ends_with("because nobody reads them."));
    assert_eq!(warnings(vec![text]), "");
}
