use serde_json::json;

use super::*;
use crate::extract::Schema;

const URL: &str = "https://site.test/a/b";

fn filled(html: &str, schema: Value) -> FillResult {
    let page = harvestman_content::HtmlPage::parse(html, &Url::parse(URL).unwrap());
    let schema = Schema::new(schema.as_object().cloned().unwrap());
    let about = PageInfo {
        url: URL,
        ..PageInfo::default()
    };
    fill(&schema, &page.facts(), about)
}

#[track_caller]
fn check(html: &str, schema: Value, expected: Value) {
    let filled = filled(html, schema);
    assert_eq!(filled.value, expected, "{filled:?}");
    assert!(filled.violations.is_empty(), "{filled:?}");
}

fn properties(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn a_json_ld_product_fills_a_schema() {
    let html = r#"<title>Shop</title><script type="application/ld+json">[{"@type":"BreadcrumbList","name":"no"},
        {"@type":"Product","name":"Red cup","image":["/1.png","/2.png"],"brand":{"@type":"Brand","name":"Acme"},"sku":"C-1",
         "offers":{"@type":"Offer","price":"1,299.00","priceCurrency":"EUR","availability":"https://schema.org/InStock"},
         "aggregateRating":{"ratingValue":"4.5","reviewCount":"12"},
         "review":[{"@type":"Review","author":{"name":"Ann"},"reviewRating":{"ratingValue":5},"reviewBody":"Good"}]}]</script>"#;
    check(
        html,
        properties(json!({
            "product_name": {"type": "string"}, "price": {"type": "number"}, "currency": {"enum": ["USD", "EUR"]},
            "inStock": {"type": "boolean"}, "availability": {"enum": ["in_stock", "out_of_stock"]},
            "brand": {"type": "string"}, "rating": {"type": "number"}, "reviewCount": {"type": "integer"},
            "images": {"type": "array", "items": {"type": "string", "format": "uri"}},
            "reviews": {"type": "array", "items": properties(json!({"author": {"type": "string"}, "rating": {"type": "integer"},
                "text": {"type": "string"}}))},
            "manufacturer": properties(json!({"name": {"type": "string"}})),
        })),
        json!({"product_name": "Red cup", "price": 1299, "currency": "EUR", "inStock": true, "availability": "in_stock",
            "brand": "Acme", "rating": 4.5, "reviewCount": 12,
            "images": ["https://site.test/1.png", "https://site.test/2.png"],
            "reviews": [{"author": "Ann", "rating": 5, "text": "Good"}], "manufacturer": {"name": "Acme"}}),
    );
}

#[test]
fn values_of_the_wrong_type_are_left_out() {
    let html = r#"<script type="application/ld+json">{"@type":"Product","name":"Cup","offers":{"price":"on request"},
        "aggregateRating":{"ratingValue":"4.5"},"releaseDate":"soon","url":"not an address"}</script>"#;
    let found = filled(
        html,
        json!({"type": "object", "required": ["name", "price"], "properties": {"name": {"type": "string"},
            "price": {"type": "number"}, "rating": {"type": "integer"}, "release_date": {"type": "string", "format": "date"},
            "note": {"type": ["string", "null"]}}}),
    );
    assert_eq!(found.value, json!({"name": "Cup"}));
    assert_eq!(found.violations, ["/price is required."]);
    let warning = found.warning("`json`", "no language model is configured");
    assert!(
        warning.contains("structured data") && warning.contains("`price` (required)"),
        "{warning}"
    );
    assert!(
        warning.contains("`release_date`") && warning.contains("does not match the schema: /price"),
        "{warning}"
    );
    let nothing = filled("<p>Hello", properties(json!({"sku": {"type": "string"}})));
    assert_eq!(nothing.value, Value::Null);
    assert!(nothing.warning("`json`", "x").contains("`json` is empty"));
}

#[test]
fn recipes_have_steps_and_times() {
    let html = r#"<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"Kitchen"},{"@type":["Recipe"],"name":"Soup",
        "prepTime":"PT15M","totalTime":"PT1H","recipeYield":["4","4 servings"],"recipeIngredient":["1 onion","Salt"],
        "recipeInstructions":[{"@type":"HowToSection","itemListElement":[{"@type":"HowToStep","text":"Cut."},{"@type":"HowToStep","text":"Cook."}]}],
        "nutrition":{"calories":"250 kcal"},"author":{"@type":"Person","name":"Bo"},"datePublished":"2026-01-31T08:00:00+01:00"}]}</script>"#;
    check(
        html,
        properties(json!({
            "recipe": properties(json!({"title": {"type": "string"}, "prep_time_minutes": {"type": "integer"},
                "totalTime": {"type": "integer"}, "servings": {"type": "integer"},
                "ingredients": {"type": "array", "items": {"type": "string"}},
                "steps": {"type": "array", "items": {"type": "string"}}, "calories": {"type": "number"},
                "author": {"type": "string"}, "published": {"type": "string", "format": "date"}})),
        })),
        json!({"recipe": {"title": "Soup", "prep_time_minutes": 15, "totalTime": 60, "servings": 4,
            "ingredients": ["1 onion", "Salt"], "steps": ["Cut.", "Cook."], "calories": 250, "author": "Bo",
            "published": "2026-01-31"}}),
    );
}

#[test]
fn microdata_events_and_open_graph_articles_are_read() {
    check(
        "<div itemscope itemtype='https://schema.org/Event'><h1 itemprop=name>Fair</h1><time itemprop=startDate datetime='2026-05-01T19:30'>x</time>\
         <div itemprop=location itemscope itemtype='https://schema.org/Place'><span itemprop=name>Hall</span>\
         <div itemprop=address itemscope><span itemprop=streetAddress>Main St 1</span><span itemprop=addressLocality>Graz</span></div></div></div>",
        properties(
            json!({"event": {"type": "string"}, "title": {"type": "string"}, "start": {"type": "string", "format": "date-time"},
            "venue": properties(json!({"name": {"type": "string"}, "city": {"type": "string"}})), "city": {"type": "string"},
            "address": {"type": "string"}}),
        ),
        json!({"title": "Fair", "start": "2026-05-01T19:30:00Z", "venue": {"name": "Hall", "city": "Graz"}, "city": "Graz",
            "address": "Main St 1"}),
    );
    check(
        "<title>T - Site</title><meta property='og:title' content='A title'><meta name=author content=Ann>\
         <meta property='article:published_time' content='2026-01-31T08:00:00Z'><meta name=keywords content='a, b'>\
         <meta property='og:image' content='https://site.test/i.png'><h1>A title</h1>",
        properties(
            json!({"headline": {"type": "string"}, "author": {"type": "string"}, "date": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"type": "string"}}, "image": {"type": "string", "format": "uri"}}),
        ),
        json!({"headline": "A title", "author": "Ann", "date": "2026-01-31", "tags": ["a", "b"], "image": "https://site.test/i.png"}),
    );
}

#[test]
fn tables_labels_and_lists_are_used_without_structured_data() {
    check(
        "<h1>Lamp</h1><dl><dt>Weight<dd>2.5 kg<dt>Colour<dd>black</dl><table><tr><th>Power<td>9 W</table><p><b>SKU:</b> L-1</p>\
         <h2>Features</h2><ul><li>bright<li>small</ul>\
         <h2>Plans</h2><table><tr><th>Plan<th>Price<th>Users<tr><td><a href=/p/s>Small</a><td>$5<td>1<tr><td>Large<td>$1,000<td>50</table>",
        properties(json!({
            "name": {"type": "string"}, "weight": {"type": "number"}, "color": {"type": "string"}, "power": {"type": "string"},
            "sku": {"type": "string"}, "features": {"type": "array", "items": {"type": "string"}},
            "plans": {"type": "array", "items": {"type": "object", "required": ["plan"], "properties": {"plan": {"type": "string"},
                "price": {"type": "number"}, "users": {"type": "integer"}, "url": {"type": "string"}}}},
            "specifications": {"type": "array", "items": properties(json!({"name": {"type": "string"}, "value": {"type": "string"}}))},
        })),
        json!({"name": "Lamp", "weight": 2.5, "color": "black", "power": "9 W", "sku": "L-1", "features": ["bright", "small"],
            "plans": [{"plan": "Small", "price": 5, "users": 1, "url": "https://site.test/p/s"}, {"plan": "Large", "price": 1000, "users": 50}],
            "specifications": [{"name": "Power", "value": "9 W"}, {"name": "Weight", "value": "2.5 kg"},
                {"name": "Colour", "value": "black"}, {"name": "SKU", "value": "L-1"}]}),
    );
}

#[test]
fn lists_of_objects_come_from_an_item_list_or_from_objects_of_one_kind() {
    let schema = || {
        json!({"type": "object", "properties": {"products": {"type": "array", "items": {"type": "object",
            "required": ["name"], "properties": {"name": {"type": "string"}, "price": {"type": "number"}}}}}})
    };
    let expected = || json!({"products": [{"name": "A", "price": 1}, {"name": "B", "price": 2}]});
    check(
        r#"<script type="application/ld+json">{"@type":"ItemList","itemListElement":[{"@type":"ListItem","position":1,"item":{"@type":"Product","name":"A","offers":{"price":1}}},
        {"@type":"ListItem","position":2,"item":{"@type":"Product","name":"B","offers":{"price":"2"}}}]}</script>"#,
        schema(),
        expected(),
    );
    check(
        "<div itemscope itemtype='http://schema.org/Product'><b itemprop=name>A</b><i itemprop=price>$1</i></div>\
         <div itemscope itemtype='http://schema.org/Product'><b itemprop=name>B</b><i itemprop=price>$2</i></div>",
        schema(),
        expected(),
    );
    check(
        "<table><tr><th>Name<th>Price<tr><td>A<td>1 €<tr><td>B<td>2 €</table>",
        json!({"type": "array", "items": properties(json!({"name": {"type": "string"}, "price": {"type": "number"}}))}),
        json!([{"name": "A", "price": 1}, {"name": "B", "price": 2}]),
    );
}

#[test]
fn references_enums_and_null_are_supported() {
    check(
        "<dl><dt>Size<dd>L<dt>State<dd>New</dl>",
        json!({"$ref": "#/$defs/thing", "$defs": {"thing": {"type": "object", "required": ["size", "note"],
            "properties": {"size": {"anyOf": [{"type": "null"}, {"type": "number"}, {"$ref": "#/$defs/size"}]},
                "state": {"type": "string", "enum": ["new", "used"]}, "note": {"type": ["string", "null"]}}},
            "size": {"enum": ["S", "L"]}}}),
        json!({"size": "L", "state": "new", "note": null}),
    );
}

#[test]
fn nullable_properties_are_filled_like_others() {
    check(
        "<table><tr><th>Name<th>Price<tr><td>A<td>1 €<tr><td>B<td>2 €</table>",
        json!({"type": "object", "required": ["note"], "properties": {
            "items": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/item"}}, {"type": "null"}], "default": null},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "$defs": {"item": {"type": "object", "properties": {"name": {"type": "string"},
                "price": {"anyOf": [{"type": "number"}, {"type": "null"}]}}}}}),
        json!({"items": [{"name": "A", "price": 1}, {"name": "B", "price": 2}], "note": null}),
    );
}

#[test]
fn hostile_schemas_take_bounded_work() {
    let html = format!(
        r#"<script type="application/ld+json">{{"a":{}1{}}}</script>"#,
        r#"{"a":"#.repeat(100),
        "}".repeat(100)
    );
    let endless = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"},
        "data": {"$ref": "#/$defs/a"}, "info": {"$ref": "#/$defs/a"}, "item": {"$ref": "#/$defs/a"}}}}});
    let _ = filled(&html, endless);
    let many: Map<String, Value> = (0..5_000)
        .map(|at| (format!("name{at}"), json!({"type": "string"})))
        .collect();
    let _ = filled(&html, properties(Value::Object(many)));
}
