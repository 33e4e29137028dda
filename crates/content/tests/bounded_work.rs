//! Hostile pages: on any input the work ends, sizes stay within limits, and the page reports that it was cut.
//! The tests assert sizes, not times.

use harvestman_content::{HtmlPage, Selection, decode};
use url::Url;

fn page(html: &str) -> HtmlPage {
    HtmlPage::parse(html, &Url::parse("https://site.test/").expect("the URL is valid"))
}

/// Returns all outputs of a page, and asserts that each is within the output limit.
fn outputs(html: &str) -> Vec<String> {
    let page = page(html);
    let max = html.len() * 3 + 1024 * 1024;
    let mut outputs = Vec::new();
    for only_main_content in [false, true] {
        let selection = Selection {
            only_main_content,
            remove_base64_images: true,
            ..Selection::default()
        };
        let content = page.convert(&selection);
        outputs.push(content.markdown());
        outputs.push(content.html());
    }
    for output in &outputs {
        assert!(output.len() <= max + 70_000, "{} of {max}", output.len());
    }
    page.links();
    page.metadata();
    page.crawl_links();
    page.render_signals(usize::MAX);
    page.redirect();
    outputs
}

#[test]
fn an_empty_json_ld_block_is_ignored() {
    let page = outputs("<p>text</p><script type=application/ld+json></script>");
    assert_eq!(page[0], "text");
    assert_eq!(outputs("<script type=application/ld+json>")[0], "");
}

#[test]
fn deep_nesting_is_flattened_and_keeps_its_text() {
    let html = format!("{}deep{}", "<div>".repeat(40_000), "</div>".repeat(40_000));
    assert!(page(&html).truncated());
    assert_eq!(outputs(&html)[0].trim(), "deep");
}

#[test]
fn classes_of_widgets_are_read_in_linear_time() {
    let many = "price__sale related ".repeat(50_000);
    for class in [format!("class='{many}'"), format!("class='price' id='{many}'")] {
        let html = format!("<div {class}>").repeat(3) + &"<p class=price__sale>1</p>".repeat(5000);
        outputs(&html);
    }
}

#[test]
fn nested_quotes_and_lists_stay_within_limits() {
    for open in [
        "<blockquote>", "<ul><li>", "<ol><li>x", "<dl><dd>", "<table><tr><td>x", "<b><i><u><s>",
        "<a href=x><div>y",
    ] {
        let html = open.repeat(200_000 / open.len()) + "end";
        let outputs = outputs(&html);
        assert!(outputs[0].contains("end"), "{open}");
    }
}

#[test]
fn nested_formulas_stay_within_limits() {
    for open in [
        "<mrow><mo>(</mo><mfrac>", "<mover><mi>x</mi>", "<mtable><mtr><mtd>x", "<mroot>",
    ] {
        let repeated = open.repeat(200_000 / open.len());
        outputs(&format!("<math>{repeated}"));
        outputs(&format!("<math>{open}</math>").repeat(200_000 / open.len()));
    }
}

#[test]
fn render_signals_are_measured_in_linear_time() {
    for open in [
        "<x-app>",
        "<div id=root>",
        "<noscript><i>",
        "<main class=skeleton>",
        "<x-a><template shadowrootmode=open><slot name=b>",
        "<iframe src=a></iframe><script>document.getElementById('a')</script>",
        "loading... javascript {{",
    ] {
        outputs(&open.repeat(1_000_000 / open.len()));
    }
}

#[test]
fn unclosed_formatting_does_not_multiply() {
    let html: String = (0..7000).map(|n| format!("<b id={n}>")).collect::<String>() + &"<p>x".repeat(10_000);
    assert!(page(&html).truncated());
    let html_out = &outputs(&html)[1];
    assert!(html_out.matches("<b ").count() < 2_000_000);
}

#[test]
fn unclosed_formatting_in_tables_terminates() {
    let html = "<table>".to_owned() + &"<b><i>x<tr>y".repeat(15_000);
    outputs(&html);
    let html = "<a><table>".repeat(20_000);
    outputs(&html);
    let html = format!("<b>{}{}", "<div>x".repeat(500), "</b><b>".repeat(20_000));
    outputs(&html);
}

#[test]
fn surplus_attributes_are_dropped() {
    let storm: String = (0..200_000).map(|n| format!(" a{n}")).collect();
    let page = page(&format!("<p{storm}>text</p>"));
    assert!(page.truncated());
    assert_eq!(page.convert(&Selection::default()).markdown().trim(), "text");
    assert!(page.convert(&Selection::default()).html().len() < 3000);
}

#[test]
fn copies_of_a_long_attribute_stay_within_limits() {
    let html = format!("<b title='{}'>", "x".repeat(100_000)) + &"<p>y".repeat(20_000);
    assert!(outputs(&html).iter().all(|output| output.len() < 8_000_000));
}

#[test]
fn huge_spans_stay_small() {
    let cell = "<td colspan=99999999 rowspan=99999999>x</td>";
    for html in [
        format!("<table><tr>{}</tr></table>", cell.repeat(50)),
        format!(
            "<table>{}</table>",
            format!("<tr>{cell}<td>y</td></tr>").repeat(3000)
        ),
        format!("<table>{}</table>", "<tr><td colspan=1000>a<td>b".repeat(5000)),
    ] {
        outputs(&html);
    }
}

#[test]
fn large_tables_keep_their_rows() {
    let row = |number: usize| format!("<tr><td>{number}{}", "<td>b".repeat(7));
    let rows: String = (0..30_000).map(row).collect();
    let wide = format!("<tr>{}", "<td>w".repeat(900));
    let table = page(&format!("<table><tr><th>a<th>b{wide}{rows}</table>"));
    let markdown = table.convert(&Selection::default()).markdown().to_string();
    assert_eq!(markdown.lines().count(), 30_003);
    assert_eq!(
        markdown.lines().last(),
        Some("| 29999 | b | b | b | b | b | b | b |")
    );
}

#[test]
fn long_runs_of_markup_characters_terminate() {
    for piece in [
        "[", "](", "*", "_", "`", "<", "&", "\\", "~", "![", "> ", "# ", "|", "a_b*", "<code>`</code>",
        "<pre>`", "<br>",
    ] {
        let html = format!("<p>{}</p>", piece.repeat(100_000 / piece.len()));
        outputs(&html);
    }
}

#[test]
fn runs_of_symbols_take_linear_time() {
    for symbol in ["’", "·", "¥", "♥", "$"] {
        outputs(&symbol.repeat(1_000_000 / symbol.len()));
    }
}

#[test]
fn broken_markup_never_panics() {
    for html in [
        "", "<", "<!--", "<!doctype", "<a", "<a href", "<a href='", "</", "&", "&#", "&#x110000;",
        "<![CDATA[", "<script>", "<style><p>", "<title>", "<textarea>", "<plaintext>x", "<svg><p>",
        "<math><mi><p>", "<template><p>x", "<frameset><frame>", "<select><option>a<p>b", "\u{0}<p>\u{0}x",
        "<table><p>x<tr><b>", "<noscript><p>x",
    ] {
        outputs(html);
    }
    let bytes: Vec<u8> = (0..=255u8).cycle().take(10_000).collect();
    let decoded = decode(&bytes, None);
    assert!(!decoded.text.contains('\0'));
    outputs(&decoded.text);
}

#[test]
fn a_list_of_numbers_saturates() {
    let html = "<ol start=99999999999999999999><li>a<li value=999999999>b<li>c</ol><ol start=-5><li>d</ol>";
    let markdown = &outputs(html)[0];
    assert!(
        markdown
            .lines()
            .filter_map(|line| line.split(['.', ')']).next())
            .all(|number| number.len() <= 9),
        "{markdown}"
    );
}
