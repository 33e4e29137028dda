//! Conversion of files to Markdown, from bytes built here; also of damaged, encrypted and hostile files.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

#[path = "files/conversion.rs"]
mod conversion;
#[allow(unreachable_pub, reason = "shared with the whole-product tests")]
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "files/fixtures.rs"]
mod fixtures;

use conversion::{check, markdown, read_as};
use expect_test::expect;
use fixtures::{Pdf, archive, docx, docx_with, epub, line, open_document, paragraph, pptx, xlsx};
use harvestman_content::files::{FileError, FileType};

#[test]
fn a_word_document_keeps_its_structure() {
    let item = |list: u8, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"{list}\"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph("", text));
    let row = |a: &str, b: &str| format!("<w:tr>{}{}</w:tr>", cell(a), cell(b));
    let body = [
        paragraph("Title", "Birds"),
        "<w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr><w:t>6</w:t></w:r>\
         <w:r><w:rPr><w:vertAlign w:val=\"subscript\"/></w:rPr><w:t>n</w:t></w:r></w:p>"
            .to_owned(),
        paragraph("Heading1", "Herons"),
        "<w:p><w:r><w:t xml:space=\"preserve\">They </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>wade</w:t></w:r>\
         <w:r><w:t xml:space=\"preserve\"> &amp; </w:t></w:r><w:hyperlink r:id=\"rId9\"><w:r><w:t>fish</w:t></w:r></w:hyperlink></w:p>"
            .to_owned(),
        "<w:p><w:r><w:t xml:space=\"preserve\">Call </w:t></w:r><w:r><w:rPr><w:rStyle w:val=\"VerbatimChar\"/></w:rPr><w:t>wade()</w:t></w:r></w:p>"
            .to_owned(),
        paragraph("Heading2", "Kinds"),
        item(1, "Grey"),
        item(1, "Purple"),
        item(2, "Egg"),
        item(2, "Chick"),
        format!("<w:tbl>{}{}</w:tbl>", row("Kind", "Height"), row("Grey", "98 cm")),
        paragraph("Code", "wade();"),
        paragraph("Code", "wait();"),
        paragraph("Quote", "Patience."),
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>".to_owned(),
    ];
    check(
        FileType::Docx,
        &docx(&body.concat()),
        expect![[r#"
        # Birds

        10<sup>6</sup><sub>n</sub>

        # Herons

        They **wade** & [fish](https://herons.test/)

        Call `wade()`

        ## Kinds

        - Grey
        - Purple

        1. Egg
        2. Chick

        | Kind | Height |
        | --- | --- |
        | Grey | 98 cm |

        ```
        wade();
        wait();
        ```

        > Patience."#]],
    );
}

#[test]
fn a_list_of_a_word_document_with_a_larger_indent_is_nested() {
    let item = |list: u8, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:numId w:val=\"{list}\"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let body = [
        item(2, "Herons"),
        item(3, "Grey"),
        item(3, "Purple"),
        item(2, "Egrets"),
        item(4, "They are white."),
        item(1, "Storks"),
        paragraph("", "And:"),
        item(2, "Ibises"),
        item(3, "Sacred"),
    ];
    check(
        FileType::Docx,
        &docx(&body.concat()),
        expect![[r#"
            1. Herons
               3. Grey
               4. Purple
            2. Egrets

               They are white.

            - Storks

            And:

            3. Ibises
               5. Sacred"#]],
    );
}

#[test]
fn lists_in_cells_text_boxes_and_notes_of_a_word_document_are_nested() {
    let item = |list: u8, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:numId w:val=\"{list}\"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let items = |list: u8| item(list, "Herons") + &item(3, "Grey") + &item(list, "Egrets");
    let cell = |content: &str| format!("<w:tc>{content}</w:tc>");
    let covered = "<w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc>";
    let merged = "<w:tc><w:tcPr><w:vMerge w:val=\"restart\"/></w:tcPr><w:p/></w:tc>";
    let body = [
        item(2, "Birds"),
        format!(
            "<w:tbl><w:tr>{merged}{}</w:tr><w:tr>{covered}{}</w:tr></w:tbl>",
            cell("<w:p/>"),
            cell(&items(1))
        ),
        format!(
            "<w:p><w:r><w:pict><v:shape xmlns:v=\"urn:schemas-microsoft-com:vml\"><v:textbox><w:txbxContent>{}\
             </w:txbxContent></v:textbox></v:shape></w:pict></w:r><w:r><w:t>In a box</w:t></w:r></w:p>",
            items(2)
        ),
        "<w:p><w:r><w:t>End</w:t></w:r><w:r><w:footnoteReference w:id=\"2\"/></w:r></w:p>".to_owned(),
        item(2, "Fish"),
    ];
    let document = read_as(FileType::Docx, &docx_with(&body.concat(), &items(1))).unwrap();
    let nested = |tag: &str, start: &str| {
        format!("<{tag}><li>Herons<ol start=\"{start}\"><li>Grey</li></ol></li><li>Egrets</li></{tag}>")
    };
    let html = document.html().replace('\n', "");
    for expected in [
        format!("<th>{}</th>", nested("ul", "3")),
        format!("<p>In a box</p>{}", nested("ol", "3")),
        format!("<li id=\"fn2\">{}</li>", nested("ul", "3")),
        "<ol start=\"2\"><li>Fish</li></ol>".to_owned(),
    ] {
        assert!(html.contains(&expected), "{expected} in {html}");
    }
}

#[test]
fn a_quote_of_a_word_document_with_a_larger_indent_is_nested() {
    let quote = |indent: u16, text: &str| {
        let indent = format!("<w:pStyle w:val=\"Quote\"/><w:ind w:left=\"{indent}\"/>");
        format!("<w:p><w:pPr>{indent}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = [
        quote(720, "Patience."),
        quote(1440, "Wade."),
        quote(1450, "Wait."),
        quote(720, "Fish."),
    ];
    check(
        FileType::Docx,
        &docx(&body.concat()),
        expect![[r#"
            > Patience.
            >
            > > Wade.
            > >
            > > Wait.
            >
            > Fish."#]],
    );
}

#[test]
fn equations_of_a_word_document_are_formulas() {
    let run = |text: &str| {
        let style = if text.len() > 1 { "p" } else { "i" };
        format!("<m:r><m:rPr><m:sty m:val=\"{style}\"/></m:rPr><m:t>{text}</m:t></m:r>")
    };
    let part = |name: &str, content: &str| format!("<m:{name}>{content}</m:{name}>");
    let with = |name: &str, properties: &[(&str, &str)], content: &[&str]| {
        let value = |(name, value): &(&str, &str)| format!("<m:{name} m:val=\"{value}\"/>");
        let properties = part(
            &format!("{name}Pr"),
            &properties.iter().map(value).collect::<String>(),
        );
        part(name, &(properties + &content.concat()))
    };
    let [x, one, two, n] = ["x", "1", "2", "n"].map(run);
    let e = |content: &str| part("e", content);
    let (sub, sup) = (part("sub", &one), part("sup", &n));
    let fraction = part("f", &(part("num", &one) + &part("den", &x)));
    let matrix = part("m", &(part("mr", &(e(&one) + &e(&x))) + &part("mr", &e(&two))));
    let inline = [
        with("acc", &[("chr", "\u{303}")], &[&e("<m:r><m:t>xy</m:t></m:r>")]),
        part("func", &(part("fName", &run("sin")) + &e(&x))),
        with("d", &[("begChr", "{"), ("endChr", "")], &[&e(&matrix)]),
        part("d", &(e(&fraction) + &e(&n))),
        with("rad", &[("degHide", "1")], &[&part("deg", &two), &e(&x)]),
        part("rad", &(part("deg", &run("3")) + &e(&x))),
        part("sPre", &(sub.clone() + &sup + &e(&x))),
        with("phant", &[("show", "0")], &[&e(&x)]),
        with("borderBox", &[], &[&e(&run("if so"))]),
        part("limLow", &(e(&run("lim")) + &part("lim", &n))),
        with("bar", &[("pos", "top")], &[&e(&x)]),
        with("groupChr", &[], &[&e(&x)]),
        with("f", &[("type", "noBar")], &[&part("num", &n), &part("den", &two)]),
        part("eqArr", &(e(&run("a&amp;=1")) + &e(&run("&amp;=2")))),
        format!("<w:del>{x}</w:del><m:r><m:rPr><m:scr m:val=\"double-struck\"/></m:rPr><m:t>R</m:t></m:r>"),
    ];
    let sum = with(
        "nary",
        &[("chr", "∑"), ("limLoc", "undOvr")],
        &[&sub, &sup, &e(&part("sSup", &(e(&x) + &part("sup", &two))))],
    );
    let body = [
        "<w:p><w:r><w:t>Let </w:t></w:r>".to_owned(),
        inline
            .map(|equation| format!("<m:oMath>{equation}</m:oMath>"))
            .join("<w:r><w:t>, </w:t></w:r>"),
        format!("</w:p><w:p><m:oMathPara><m:oMath>{sum}</m:oMath></m:oMathPara></w:p>"),
        format!("<w:p><m:oMath>{fraction}</m:oMath></w:p>"),
    ];
    check(
        FileType::Docx,
        &docx(&body.concat()),
        expect![[r#"
            Let $\tilde{xy}$, $\sin x$, $\left\{\begin{matrix}1 & x \\ 2\end{matrix}\right.$, $(\frac{1}{x}|n)$, $\sqrt{x}$, $\sqrt[3]{x}$, ${}_{1}^{n}x$, , $\boxed{\mathrm{if}\ \mathrm{so}}$, $\lim_{n}$, $\overline{x}$, $\underbrace{x}$, ${n \atop 2}$, $\begin{matrix}\mathrm{a}=1 \\ =2\end{matrix}$, $\mathbb{R}$

            $$∑_{1}^{n}x^{2}$$

            $$\frac{1}{x}$$"#]],
    );
}

#[test]
fn hostile_equations_stay_within_limits() {
    let deep = |depth: usize| {
        format!(
            "<w:p><m:oMath>{}x{}</m:oMath></w:p>",
            "<m:rad><m:e>".repeat(depth),
            "</m:e></m:rad>".repeat(depth)
        )
    };
    let digits = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let long = format!(
        "<w:p><m:oMath><m:r><m:t>{}</m:t></m:r></m:oMath></w:p>",
        "x".repeat(300_000)
    );
    let body = [
        deep(100),
        deep(10_000),
        long,
        digits("\u{FDD9}\u{FDDA}a\u{FDD0}\u{FDDA}b"),
        "<w:p><m:oMath></w:p>".to_owned(),
        "m:oMath>".to_owned(),
        "ém:oMath></m:oMath>".to_owned(),
    ];
    for part in body {
        let document = read_as(FileType::Docx, &docx(&part));
        assert!(document.is_err() || document.is_ok_and(|document| document.html().len() < 400_000));
    }
}

#[test]
fn a_workbook_gives_a_table_per_visible_sheet() {
    let text = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let rows = format!(
        "<row>{}{}{}{}{}</row><row>{}<c s=\"1\"><v>45293</v></c><c s=\"2\"><v>0.25</v></c>\
         <c s=\"3\"><v>0.5625</v></c><c s=\"4\"><v>1.25</v></c></row>",
        text("Kind"),
        text("Seen"),
        text("Share"),
        text("At"),
        text("For"),
        text("Grey |\nblue")
    );
    let hidden = format!("<row>{}</row>", text("secret"));
    let body = xlsx(&[("Birds", "visible", &rows), ("Notes", "hidden", &hidden)]);
    let document = read_as(FileType::Xlsx, &body).unwrap();
    expect![[r#"
        ## Birds

        | Kind | Seen | Share | At | For |
        | --- | --- | --- | --- | --- |
        | Grey \|<br>blue | 2024-01-02 | 25% | 13:30 | 30:00:00 |"#]]
    .assert_eq(&markdown(&document));
    assert_eq!(document.warnings, ["Hidden sheets were left out: 1."]);
    assert_eq!(document.properties, [], "the name of a sheet is no title");
}

#[test]
fn hidden_rows_and_empty_columns_of_a_workbook_are_left_out() {
    let far: String = (1..9_000)
        .map(|row| format!("<row r=\"{row}\"><c r=\"B{row}\"><v>{row}</v></c><c r=\"XFC{row}\"/></row>"))
        .collect();
    let far = far
        + "<row r=\"1048575\" hidden=\"1\"><c r=\"C1048575\"><v>7</v></c></row>\
                     <row r=\"1048576\"><c r=\"XFD1048576\"><v>8</v></c></row>";
    let document = read_as(FileType::Xlsx, &xlsx(&[("Far", "visible", &far)])).unwrap();
    let text = markdown(&document);
    assert!(
        text.starts_with("## Far\n\n| 1 | |\n| --- | --- |\n| 2 | |\n"),
        "{}",
        &text[..60]
    );
    assert!(text.ends_with("| 8999 | |\n| | 8 |"));
    assert_eq!(document.warnings, ["Hidden rows or columns were left out."]);
}

#[test]
fn formulas_without_a_result_are_kept() {
    let rows = "<row><c><v>1</v></c><c r=\"C1\"><f>SUM(A1,2)</f><v></v></c><c r=\"E1\"><f>A1</f></c></row>";
    check(
        FileType::Xlsx,
        &xlsx(&[("Sums", "visible", rows)]),
        expect![[r#"
        ## Sums

        | 1 | =SUM(A1,2) | =A1 |
        | --- | --- | --- |"#]],
    );
}

#[test]
fn covered_rows_of_a_workbook_keep_the_cells_below_in_their_columns() {
    let row = |number: u8, values: &[u8]| {
        let cells = values.iter().map(|value| match value {
            0 => "<c/>".to_owned(),
            value => format!("<c><v>{value}</v></c>"),
        });
        format!("<row r=\"{number}\">{}</row>", cells.collect::<String>())
    };
    let rows = row(1, &[1, 0]) + &row(2, &[0, 0]) + &row(3, &[2, 3]);
    let merged = "</sheetData><mergeCells><mergeCell ref=\"A1:B2\"/></mergeCells><sheetData>";
    let body = xlsx(&[("Sheet", "visible", &(rows + merged))]);
    check(
        FileType::Xlsx,
        &body,
        expect![[r#"
        ## Sheet

        | 1 | |
        | --- | --- |
        | 2 | 3 |"#]],
    );
}

#[test]
fn long_sheets_keep_their_rows() {
    let value = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let row = |number: usize| format!("<row><c><v>{number}</v></c>{}</row>", value("grey"));
    let numbers: String = (1..=25_000).map(row).collect();
    let sentence = value("They wade in shallow water, and they wait for fish, which may take hours.");
    let sentences = format!("<row>{sentence}</row>").repeat(10_001);
    let body = xlsx(&[
        ("Numbers", "visible", &numbers),
        ("Short", "visible", &row(7)),
        ("Prose", "visible", &sentences),
    ]);
    let document = read_as(FileType::Xlsx, &body).unwrap();
    let text = markdown(&document);
    let rows: Vec<&str> = text.lines().filter(|line| line.ends_with("| grey |")).collect();
    assert_eq!(rows.len(), 25_001);
    assert_eq!(rows[9_999..10_001], ["| 10000 | grey |", "| 10001 | grey |"]);
    assert_eq!(rows[24_999..], ["| 25000 | grey |", "| 7 | grey |"]);
    assert_eq!(text.matches("They wade").count(), 10_001);
    assert_eq!(text.matches("| --- | --- |").count(), 2);
    assert!(!text.contains("truncated"));
    assert_eq!(document.warnings, [""; 0]);
}

#[test]
fn a_presentation_has_a_page_per_slide() {
    let body = pptx(&[
        ("Herons", &["They wade.", "They wait."]),
        ("Egrets", &["They are white."]),
    ]);
    let document = read_as(FileType::Pptx, &body).unwrap();
    expect![[r#"
        ## Herons

        They wade.

        They wait.

        ## Egrets

        They are white."#]]
    .assert_eq(&markdown(&document));
    assert_eq!((document.pages.len(), document.total_pages), (2, Some(2)));
}

#[test]
fn a_book_is_read_in_chapter_order() {
    let body = epub(&[
        "<h1>Herons</h1><p>They wade; see <a href=\"c2.xhtml\">egrets</a>.</p>",
        "<h1>Egrets</h1><p>They are <span class=\"strong\">white</span>.</p>",
    ]);
    let document = read_as(FileType::Epub, &body).unwrap();
    expect![[r#"
        # Herons

        They wade; see [egrets](https://a.test/file#c2).

        # Egrets

        They are **white**."#]]
    .assert_eq(&markdown(&document));
    let properties = [("title", "Of herons"), ("author", "A. Wader")];
    assert_eq!(
        document.properties,
        properties.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

#[test]
fn an_encrypted_file_is_reported() {
    let pdf = Pdf {
        pages: vec![line(12, 700, "secret")],
        protected: true,
        ..Pdf::default()
    };
    assert_eq!(read_as(FileType::Pdf, &pdf.bytes()), Err(FileError::Encrypted));
    let odt = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
            "META-INF/manifest.xml",
            "<manifest:manifest><manifest:encryption-data/></manifest:manifest>",
        ),
        ("content.xml", "scrambled"),
    ]);
    assert_eq!(read_as(FileType::Odt, &odt), Err(FileError::Encrypted));
    let mut office = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec();
    office.resize(2048, 0);
    office.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    for kind in [FileType::Docx, FileType::Xlsx, FileType::Pptx] {
        assert_eq!(read_as(kind, &office), Err(FileError::Encrypted), "{kind:?}");
    }
}

#[test]
fn a_truncated_file_is_read_or_refused() {
    let files = [
        (
            FileType::Pdf,
            Pdf {
                pages: vec![line(12, 700, "They wade.")],
                ..Pdf::default()
            }
            .bytes(),
        ),
        (FileType::Docx, docx(&paragraph("Heading1", "Herons"))),
        (
            FileType::Xlsx,
            xlsx(&[("Birds", "visible", "<row><c><v>1</v></c></row>")]),
        ),
        (FileType::Pptx, pptx(&[("Herons", &["They wade."])])),
        (
            FileType::Odt,
            open_document("text", "<text:p>They wade.</text:p>"),
        ),
        (FileType::Epub, epub(&["<p>They wade.</p>"])),
    ];
    for (kind, body) in files {
        assert!(read_as(kind, &body).is_ok(), "{kind:?}");
        assert!(
            matches!(read_as(kind, b""), Err(FileError::Damaged(_))),
            "{kind:?}"
        );
        assert!(
            matches!(read_as(kind, b"something else"), Err(FileError::Damaged(_))),
            "{kind:?}"
        );
        for end in (0..body.len()).step_by(body.len() / 40) {
            // A panic would be reported as `Damaged` with this text.
            if let Err(FileError::Damaged(what)) = read_as(kind, &body[..end]) {
                assert!(!what.contains("crashed"), "{kind:?} at {end}");
            }
        }
    }
}

#[test]
fn a_zip_bomb_is_refused() {
    let bomb = "<text:p>".to_owned() + &" ".repeat(60 << 20);
    let body = open_document("text", &bomb);
    assert!(body.len() < 1 << 20);
    assert!(matches!(
        read_as(FileType::Odt, &body),
        Err(FileError::TooLarge(_))
    ));
    let body = docx(&(paragraph("", "x") + &" ".repeat(60 << 20)));
    assert!(matches!(
        read_as(FileType::Docx, &body),
        Err(FileError::TooLarge(_))
    ));
}
