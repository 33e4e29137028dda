//! Conversion of OpenDocument files to Markdown, from bytes built here.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

#[path = "files/conversion.rs"]
mod conversion;
#[allow(unreachable_pub, reason = "shared with the whole-product tests")]
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "files/fixtures.rs"]
mod fixtures;

use conversion::{check, markdown, read_as};
use expect_test::expect;
use fixtures::{open_document, open_document_with};
use harvestman_content::files::FileType;

#[test]
fn an_opendocument_text_keeps_its_structure() {
    let body = "<text:h text:outline-level=\"1\">Herons</text:h><text:p>They <text:a xlink:href=\"https://h.test/\">wade</text:a>.</text:p>\
        <text:list><text:list-item><text:p>Grey</text:p></text:list-item><text:list-item><text:p>Purple</text:p></text:list-item></text:list>\
        <table:table><table:table-row><table:table-cell><text:p>Kind</text:p></table:table-cell><table:table-cell><text:p>Height</text:p></table:table-cell></table:table-row>\
        <table:table-row><table:table-cell><text:p>Grey</text:p></table:table-cell><table:table-cell><text:p>98 cm</text:p></table:table-cell></table:table-row></table:table>";
    let document = read_as(FileType::Odt, &open_document("text", body)).unwrap();
    expect![[r#"
        # Herons

        They [wade](https://h.test/).

        - Grey
        - Purple

        | Kind | Height |
        | --- | --- |
        | Grey | 98 cm |"#]]
    .assert_eq(&markdown(&document));
    assert_eq!(
        document.properties,
        [("title".to_owned(), "Of herons".to_owned())]
    );
}

#[test]
fn headings_scripts_code_and_hidden_text_of_an_opendocument_text_are_recognized_by_their_styles() {
    let style = |name: &str, parent: &str, property: &str| {
        format!(
            "<style:style style:name=\"{name}\" style:parent-style-name=\"{parent}\"><style:text-properties {property}/></style:style>"
        )
    };
    let text = |style: &str, text: &str| format!("<text:span text:style-name=\"{style}\">{text}</text:span>");
    let body = [
        style("P1", "Title", ""),
        style("Title", "", ""),
        style("P2", "Heading_20_2", ""),
        style("Heading_20_2", "Heading", "fo:font-weight=\"bold\""),
        style("T1", "", "style:text-position=\"super 58%\""),
        style("T2", "", "style:text-position=\"-33% 58%\""),
        style("T3", "", "text:display=\"none\""),
        "<text:p text:style-name=\"P1\">Birds</text:p><text:p text:style-name=\"P2\">Herons</text:p>"
            .to_owned(),
        format!(
            "<text:p>10{}{}{}</text:p>",
            text("T1", "6"),
            text("T2", "n"),
            text("T3", "hidden")
        ),
        format!("<text:p>Call {}</text:p>", text("Verbatim_20_Char", "wade()")),
        "<text:p text:style-name=\"T3\">hidden</text:p>".to_owned(),
        "<text:section text:display=\"none\"><text:p>hidden</text:p></text:section>".to_owned(),
    ];
    check(
        FileType::Odt,
        &open_document("text", &body.concat()),
        expect![[r#"
        # Birds

        ## Herons

        10<sup>6</sup><sub>n</sub>

        Call `wade()`"#]],
    );
}

#[test]
fn formulas_of_an_opendocument_text_are_written_where_they_are_embedded() {
    let object = "<draw:frame><draw:object xlink:href=\"./Object 1\"/></draw:frame>";
    let body = format!(
        "<text:p>Let {object}</text:p><text:p>{object}</text:p><table:table><table:table-row><table:table-cell>\
         <text:p>{object}</text:p></table:table-cell><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table>"
    );
    let formula = "<semantics><mrow><script>x</script><msup onclick=\"x\"><mi>x</mi><mn>2</mn></msup></mrow>\
                   <annotation encoding=\"StarMath 5.0\">x^2</annotation></semantics>";
    check(
        FileType::Odt,
        &open_document_with("text", &body, formula),
        expect![[r#"
            Let $x^{2}$

            $$x^{2}$$

            | $x^{2}$ | a |
            | --- | --- |"#]],
    );
    let object = "<draw:page><draw:frame><draw:object xlink:href=\"Object 1/\"/></draw:frame></draw:page>";
    let document = read_as(
        FileType::Odp,
        &open_document_with("presentation", object, formula),
    )
    .unwrap();
    expect![[r#"
        <p><math display="block"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math></p>
    "#]]
    .assert_eq(&document.html());
}

#[test]
fn charts_of_an_opendocument_presentation_are_tables() {
    let cell = |text: &str| {
        format!(
            "<table:table-cell><text:p>{text}</text:p><draw:g><svg:desc>A1</svg:desc></draw:g></table:table-cell>"
        )
    };
    let row = |cells: [&str; 2]| format!("<table:table-row>{}</table:table-row>", cells.map(cell).concat());
    let chart = format!(
        "<chart:chart><chart:title><text:p>Herons | egrets</text:p></chart:title>\
         <chart:axis><chart:title><text:p>Year</text:p></chart:title></chart:axis>\
         <table:table><table:table-header-rows>{}</table:table-header-rows><table:table-rows>{}{}</table:table-rows></table:table></chart:chart>",
        row(["", "Grey"]),
        row(["2024", "7"]),
        row(["2025", "NaN"])
    );
    let body = "<draw:page><draw:frame><draw:object xlink:href=\"./Object 1\"/><draw:image/><svg:desc>A chart</svg:desc></draw:frame></draw:page>";
    check(
        FileType::Odp,
        &open_document_with("presentation", body, &chart),
        expect![[r#"
            Herons | egrets

            | | Grey |
            | --- | --- |
            | 2024 | 7 |
            | 2025 | |"#]],
    );
}

#[test]
fn empty_cells_of_an_opendocument_sheet_are_not_repeated() {
    let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
    let body = format!(
        "<table:table table:name=\"Birds\"><table:table-row>{}{}<table:table-cell table:number-columns-repeated=\"16000\"/></table:table-row>\
         <table:table-row>{}{}</table:table-row><table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell/></table:table-row></table:table>",
        cell("Kind"),
        cell("Height"),
        cell("Grey"),
        cell("98")
    );
    check(
        FileType::Ods,
        &open_document("spreadsheet", &body),
        expect![[r#"
        ## Birds

        | Kind | Height |
        | --- | --- |
        | Grey | 98 |"#]],
    );
}

#[test]
fn a_merged_cell_of_a_hidden_row_of_an_opendocument_sheet_is_in_the_first_visible_row() {
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let row = |attributes: &str, cells: &[String]| {
        format!(
            "<table:table-row {attributes}>{}</table:table-row>",
            cells.concat()
        )
    };
    let covered =
        |count: u8| format!("<table:covered-table-cell table:number-columns-repeated=\"{count}\"/>");
    let hidden = "table:visibility=\"collapse\"";
    let body = [
        "<table:table table:name=\"Birds\">".to_owned(),
        row(
            hidden,
            &[
                cell(
                    "table:number-columns-spanned=\"2\" table:number-rows-spanned=\"3\"",
                    "Heron",
                ),
                covered(1),
                cell("table:number-rows-spanned=\"4\"", "Egret"),
                cell("table:number-rows-spanned=\"2\"", "hidden"),
                cell("", "hidden"),
            ],
        ),
        row(hidden, &[covered(4), cell("", "hidden")]),
        row("", &[covered(3), cell("", "1"), cell("", "2")]),
        row("", &[cell("", "3"), cell("", "4"), covered(1), cell("", "5")]),
    ];
    let document = read_as(
        FileType::Ods,
        &open_document("spreadsheet", &(body.concat() + "</table:table>")),
    );
    expect![[r#"
        <h2>Birds</h2>
        <table><tr><th colspan="2">Heron</th><th rowspan="2">Egret</th><th>1</th><th>2</th></tr>
        <tr><td>3</td><td>4</td><td>5</td></tr>
        </table>
    "#]]
    .assert_eq(&document.unwrap().html());
}

#[test]
fn hidden_columns_of_an_opendocument_sheet_are_left_out() {
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let body = [
        "<table:table table:name=\"Birds\"><table:table-column/><table:table-column-group><table:table-column \
         table:number-columns-repeated=\"2\" table:visibility=\"collapse\"/></table:table-column-group><table:table-column/>"
            .to_owned(),
        row(&["Kind", "a", "b", "Height", "Wings"].map(|text| cell("", text))),
        row(&[
            cell("table:number-columns-spanned=\"4\"", "Grey"),
            "<table:covered-table-cell table:number-columns-repeated=\"3\"/>".to_owned(),
            cell("", "2"),
        ]),
        row(&[cell("table:number-columns-repeated=\"4\"", "1"), cell("", "3")]),
        "</table:table>".to_owned(),
    ];
    let document = read_as(FileType::Ods, &open_document("spreadsheet", &body.concat())).unwrap();
    expect![[r#"
        <h2>Birds</h2>
        <table><tr><th>Kind</th><th>Height</th><th>Wings</th></tr>
        <tr><td colspan="2">Grey</td><td>2</td></tr>
        <tr><td>1</td><td>1</td><td>3</td></tr>
        </table>
    "#]]
    .assert_eq(&document.html());
}

#[test]
fn covered_rows_of_an_opendocument_sheet_keep_the_cells_below_in_their_columns() {
    let cell = |spans: &str, text: &str| {
        format!("<table:table-cell {spans}><text:p>{text}</text:p></table:table-cell>")
    };
    let covered = "<table:covered-table-cell/><table:covered-table-cell/>";
    let row =
        |attributes: &str, cells: &str| format!("<table:table-row {attributes}>{cells}</table:table-row>");
    let spans = "table:number-columns-spanned=\"2\" table:number-rows-spanned=\"4\"";
    let body = [
        "<table:table table:name=\"Birds\">".to_owned(),
        row("", &(cell(spans, "Herons") + "<table:covered-table-cell/>")),
        row("table:number-rows-repeated=\"2\"", covered),
        row("table:visibility=\"collapse\"", covered),
        row("", &(cell("", "Grey") + &cell("", "98 cm"))),
        row("table:number-rows-repeated=\"9\"", ""),
        row("", &cell("", "Purple")),
        "</table:table>".to_owned(),
    ];
    let document = read_as(FileType::Ods, &open_document("spreadsheet", &body.concat())).unwrap();
    expect![[r#"
        <h2>Birds</h2>
        <table><tr><th colspan="2" rowspan="4">Herons</th></tr>
        <tr></tr>
        <tr></tr>
        <tr></tr>
        <tr><td>Grey</td><td>98 cm</td></tr>
        <tr><td>Purple</td></tr>
        </table>
    "#]]
    .assert_eq(&document.html());
}

#[test]
fn hidden_slides_of_an_opendocument_presentation_are_left_out() {
    let style = "<style:style style:name=\"dp1\"><style:drawing-page-properties presentation:visibility=\"hidden\"/></style:style>";
    let page = |style: &str, text: &str| {
        format!(
            "<draw:page draw:style-name=\"{style}\"><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:page>"
        )
    };
    let body = style.to_owned() + &page("dp1", "Secret") + &page("dp2", "Herons");
    let document = read_as(FileType::Odp, &open_document("presentation", &body)).unwrap();
    assert_eq!(markdown(&document), "Herons");
    let numbers: Vec<_> = document.pages.iter().map(|page| page.number).collect();
    assert_eq!((numbers, document.total_pages), (vec![2], Some(2)));
    assert_eq!(document.warnings, ["Hidden slides were left out: 1."]);
}

#[test]
fn an_opendocument_presentation_has_a_page_per_slide() {
    let slide = |title: &str, text: &str| {
        format!(
            "<draw:page draw:name=\"{title}\"><draw:frame presentation:class=\"title\"><draw:text-box><text:p>{title}</text:p></draw:text-box></draw:frame>\
             <draw:frame presentation:class=\"outline\"><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame></draw:page>"
        )
    };
    let body = open_document(
        "presentation",
        &(slide("Herons", "They wade.") + &slide("Egrets", "They are white.")),
    );
    let document = read_as(FileType::Odp, &body).unwrap();
    expect![[r#"
        ## Herons

        They wade.

        ## Egrets

        They are white."#]]
    .assert_eq(&markdown(&document));
    assert_eq!((document.pages.len(), document.total_pages), (2, Some(2)));
}

#[test]
fn a_list_without_a_text_of_its_own_is_nested_in_the_item_before() {
    let list =
        |style: &str, items: &str| format!("<text:list text:style-name=\"{style}\">{items}</text:list>");
    let item = |content: &str| format!("<text:list-item>{content}</text:list-item>");
    let text = |words: &str| format!("<text:p>{words}</text:p>");
    let styles = "<text:list-style style:name=\"L\"><text:list-level-style-bullet text:level=\"1\"/>\
                  <text:list-level-style-number text:level=\"2\"/></text:list-style>\
                  <text:list-style style:name=\"N\"><text:list-level-style-number text:level=\"1\"/></text:list-style>";
    let inner = item(&list("L", &(item(&text("Egg")) + &item(&text("Chick")))));
    // In presentations, a change of style ends the outer list.
    for body in [
        list("L", &(item(&text("Herons")) + &inner + &item(&text("Egrets")))),
        list("L", &item(&text("Herons"))) + &list("L", &(inner.clone() + &item(&text("Egrets")))),
        list(
            "L",
            &(item(&(text("Herons") + &list("N", &(item(&text("Egg")) + &item(&text("Chick"))))))
                + &item(&text("Egrets"))),
        ),
    ] {
        check(
            FileType::Odt,
            &open_document("text", &(styles.to_owned() + &body)),
            expect![[r#"
                - Herons
                  1. Egg
                  2. Chick
                - Egrets"#]],
        );
    }
}

#[test]
fn items_of_an_opendocument_text_without_marks_are_paragraphs() {
    let list =
        |style: &str, items: &str| format!("<text:list text:style-name=\"{style}\">{items}</text:list>");
    let item = |content: &str| format!("<text:list-item>{content}</text:list-item>");
    let text = |words: &str| format!("<text:p>{words}</text:p>");
    let styles = "<text:list-style style:name=\"L\"><text:list-level-style-bullet text:level=\"1\" text:bullet-char=\"•\"/>\
                  <text:list-level-style-bullet text:level=\"2\" text:bullet-char=\" \"/></text:list-style>\
                  <text:list-style style:name=\"N\"><text:list-level-style-number text:level=\"1\" style:num-format=\"\"/></text:list-style>";
    let body = [
        list(
            "L",
            &item(&(text("Herons") + &list("L", &item(&text("They wade."))))),
        ),
        list("N", &(item(&text("Egrets")) + &item(""))),
    ];
    check(
        FileType::Odt,
        &open_document("text", &(styles.to_owned() + &body.concat())),
        expect![[r#"
            - Herons

              They wade.

            Egrets"#]],
    );
}

#[test]
fn lists_of_an_opendocument_text_keep_their_numbers() {
    let style = |name: &str, start: u8| {
        format!(
            "<text:list-style style:name=\"{name}\"><text:list-level-style-number text:level=\"1\" text:start-value=\"{start}\"/>\
             <text:list-level-style-number text:level=\"2\"/></text:list-style>"
        )
    };
    let list = |attributes: &str, items: &str| format!("<text:list {attributes}>{items}</text:list>");
    let item = |content: &str| format!("<text:list-item>{content}</text:list-item>");
    let text = |words: &str| format!("<text:p>{words}</text:p>");
    let (five, one) = ("text:style-name=\"L5\"", "text:style-name=\"L1\"");
    let body = [
        style("L1", 1),
        style("L5", 5),
        list(five, &(item(&text("Herons")) + &item(""))),
        list(one, &item(&list("", &item(&text("Grey"))))),
        list(
            &format!("{five} text:continue-list=\"a\""),
            &(item(&text("Egrets"))
                + "<text:list-item text:style-override=\"L1\"><text:p>Storks</text:p></text:list-item>"),
        ),
        text("And:"),
        list(
            &format!("{five} text:continue-numbering=\"true\""),
            &item(&text("Ibises")),
        ),
        text("But:"),
        list(
            one,
            &format!(
                "<text:list-item text:start-value=\"3\">{}</text:list-item>",
                text("Cranes")
            ),
        ),
        text("Or:"),
        list(five, &item(&text("Rails"))),
    ];
    check(
        FileType::Odt,
        &open_document("text", &body.concat()),
        expect![[r#"
            5. Herons
               1. Grey
            6. Egrets
            7. Storks

            And:

            8. Ibises

            But:

            3. Cranes

            Or:

            5. Rails"#]],
    );
}

#[test]
fn images_of_an_opendocument_text_are_described() {
    let frame = |content: &str| format!("<draw:frame><draw:image/>{content}</draw:frame>");
    let body = [
        format!(
            "<text:p text:style-name=\"Title\">Birds</text:p><text:p>See {} here.</text:p>",
            frame("<svg:title>Bird</svg:title><svg:desc>A heron</svg:desc>")
        ),
        frame("<svg:title>An egret</svg:title>"),
        frame(""),
        "<text:p><draw:frame><draw:text-box><text:p>Text</text:p></draw:text-box><svg:desc>box</svg:desc></draw:frame></text:p>"
            .to_owned(),
    ];
    check(
        FileType::Odt,
        &open_document("text", &body.concat()),
        expect![[r#"
            # Birds

            See [A heron] here.

            [An egret]

            Text"#]],
    );
}

#[test]
fn a_text_with_presentation_elements_is_one_page() {
    let text = open_document(
        "text",
        "<text:p>a</text:p><draw:page><text:p>b</text:p></draw:page>",
    );
    let document = read_as(FileType::Odt, &text).unwrap();
    assert_eq!(document.pages.len(), 1);
    assert_eq!(markdown(&document), "a\n\nb");
}
