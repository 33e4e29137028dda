use serde_json::json;

use super::*;
use crate::HtmlPage;

fn read(html: &str) -> Facts {
    HtmlPage::parse(html, &Url::parse("https://shop.test/a/b").unwrap()).facts()
}

fn pairs(html: &str) -> Vec<(String, String)> {
    read(html).pairs
}

fn pair(label: &str, value: &str) -> (String, String) {
    (label.to_owned(), value.to_owned())
}

#[test]
fn json_ld_references_are_resolved() {
    let facts = read(
        r#"<script type="application/ld+json">{"@context":"https://schema.org","@graph":[
        {"@type":"https://schema.org/Person","@id":"p","name":"Ann &amp; Bob"},
        {"@type":["NewsArticle"],"@id":"a","headline":"A  title","author":{"@id":"p"},"about":[{"@id":"x"}],
         "mainEntityOfPage":{"@id":"a"}}]}</script><script type="application/ld+json">{broken</script>"#,
    );
    let person = json!({"@type": ["Person"], "@id": "p", "name": "Ann & Bob"});
    assert_eq!(facts.objects.len(), 2);
    assert_eq!(json!(facts.objects[0]), person);
    assert_eq!(facts.objects[1]["author"], person);
    assert_eq!(facts.objects[1]["headline"], "A title");
    assert_eq!(facts.objects[1]["about"], json!([{"@id": "x"}]));
}

#[test]
fn microdata_and_rdfa_become_objects() {
    let facts = read(
        "<div itemscope itemtype='https://schema.org/Product'><h1 itemprop=name>Cup</h1><img itemprop=image src=/c.png>\
         <div itemprop=offers itemscope itemtype='http://schema.org/Offer'><span itemprop=price content=9.5>9,50</span>\
         <link itemprop=availability href='https://schema.org/InStock'></div>\
         <div itemprop=review itemscope><b itemprop=author>Ann</b></div><div itemprop=review itemscope><b itemprop=author>Bo</b></div></div>\
         <div vocab='https://schema.org/' typeof='schema:Event'><span property='schema:name'>Fair</span><time property=startDate datetime=2026-05-01>May</time></div>\
         <meta property='og:title' content=Cup>",
    );
    assert_eq!(
        json!(facts.objects),
        json!([
            {"@type": ["Product"], "name": "Cup", "image": "https://shop.test/c.png",
             "offers": {"@type": ["Offer"], "price": "9.5", "availability": "https://schema.org/InStock"},
             "review": [{"@type": [], "author": "Ann"}, {"@type": [], "author": "Bo"}]},
            {"@type": ["Event"], "name": "Fair", "startDate": "2026-05-01"},
        ])
    );
    assert_eq!(facts.meta, [pair("og:title", "Cup")]);
}

#[test]
fn tables_without_column_names_become_pairs() {
    let facts = read(
        "<h2>Prices</h2><table><thead><tr><th>Name<th>Price</thead><tr><td><a href=x>Cup</a><td>9 €<tr><td colspan=2>all</table>\
         <table><tr><th>Weight:<td>2 kg<tr><td>Colour<td>red</table><table><tr><td><table><tr><th>a<th>b<tr><td>1<td>2</table></table>",
    );
    assert_eq!(facts.tables.len(), 2);
    let table = &facts.tables[0];
    assert_eq!((table.caption.as_str(), table.rows.len()), ("Prices", 1));
    assert_eq!(table.columns, ["Name", "Price"]);
    assert_eq!(table.rows[0][0].link.as_deref(), Some("https://shop.test/a/x"));
    assert_eq!(table.rows[0][1].text, "9 €");
    assert_eq!(facts.tables[1].columns, ["a", "b"]);
    assert_eq!(facts.pairs, [pair("Weight", "2 kg"), pair("Colour", "red")]);
}

#[test]
fn adjacent_labels_and_values_become_pairs() {
    assert_eq!(
        pairs("<dl><dt>Size<dd>XL<div><dt>Fit<dt>Cut<dd>slim<dd>long</div></dl>"),
        [
            pair("Size", "XL"),
            pair("Fit", "slim, long"),
            pair("Cut", "slim, long")
        ]
    );
    assert_eq!(
        pairs(
            "<ul><li><strong>SKU:</strong> A-1<li>Made in: Italy</ul><p><b>Author</b> <span>Ann</span></p>"
        ),
        [
            pair("SKU", "A-1"),
            pair("Made in", "Italy"),
            pair("Author", "Ann")
        ]
    );
    assert_eq!(
        pairs("<div class=row><span class=spec-label>Power</span><span>9 W</span></div>"),
        [pair("Power", "9 W")]
    );
    assert!(
        pairs("<p>See https://a.test now</p><p>At 10:30 we meet</p><nav><li>Home: x</nav><p>plain")
            .is_empty()
    );
    let long = format!("<p>{}: x", "word ".repeat(9));
    assert!(pairs(&long).is_empty());
}

#[test]
fn lists_are_found_by_their_headings() {
    let facts = read(
        "<ul><li>no</ul><h2>Ingredients:</h2><p>For two</p><ul><li>1 egg<li> <li>salt</ul><nav><ul><li>x</ul></nav>",
    );
    assert_eq!(
        facts.lists,
        [(
            "Ingredients".to_owned(),
            vec!["1 egg".to_owned(), "salt".to_owned()]
        )]
    );
}

#[test]
fn facts_of_a_hostile_page_are_bounded() {
    let deep = "<div itemscope><div itemprop=a itemscope>".repeat(5_000);
    assert!(read(&deep).objects.len() <= limits::FACT_OBJECTS);
    let wide = format!("<table>{}</table>", "<tr><td>a<td>b".repeat(100_000));
    assert!(read(&wide).pairs.len() <= limits::FACT_PAIRS);
    let references = format!(
        "<script type='application/ld+json'>[{}]</script>",
        (0..5_000)
            .map(|at| format!(r#"{{"@id":"{at}","a":{{"@id":"{}"}}}}"#, at + 1))
            .collect::<Vec<_>>()
            .join(",")
    );
    assert!(read(&references).objects.len() <= limits::FACT_OBJECTS);
}
