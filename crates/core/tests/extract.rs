//! The `json` format without a model on realistic pages: products, a news article, a recipe, an event.
#![cfg(feature = "render")]
#![allow(clippy::unwrap_used)]

use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{RawPage, render};
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

fn scraped(body: &str, content_type: &str, schema: Value) -> Document {
    let options = json!({ "formats": [{ "type": "json", "schema": schema }] });
    let options = ScrapeOptions::from_json(options.to_string().as_bytes()).unwrap();
    let url = Url::parse("https://site.test/page").unwrap();
    let page = RawPage {
        requested: &url,
        url: &url,
        status: 200,
        content_type: Some(content_type),
        body: body.as_bytes(),
    };
    let rendered = render(&page, &options, ScrapeId(Uuid::nil())).unwrap();
    assert_eq!(rendered.document.markdown, None);
    *rendered.document
}

#[track_caller]
fn check(body: &str, schema: Value, expected: Value, missing: &[&str]) {
    let document = scraped(body, "text/html", schema);
    assert_eq!(document.json, Some(expected), "{:?}", document.warning);
    let warning = document.warning.unwrap();
    assert!(warning.contains("no language model is configured"), "{warning}");
    assert_eq!(warning.contains("Not found"), !missing.is_empty(), "{warning}");
    for name in missing {
        assert!(warning.contains(&format!("`{name}`")), "{warning}");
    }
    assert!(!warning.contains("does not match"), "{warning}");
}

fn schema(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

#[test]
fn product_data_is_read_from_specification_tables() {
    check(
        include_str!("data/extract/memory.html"),
        schema(
            &["name", "sku"],
            json!({
                "name": {"type": "string"}, "sku": {"type": "string"}, "brand": {"type": "string"}, "partNumber": {"type": "string"},
                "rating": {"type": "number", "maximum": 5}, "review_count": {"type": "integer"}, "price": {"type": "number"},
                "capacity": {"type": "string"}, "cas_latency": {"type": "string"}, "voltage": {"type": "number"},
                "color": {"enum": ["black", "white"]}, "first_listed": {"type": "string", "format": "date"},
                "reviews": {"type": "array", "items": {"type": "object", "required": ["author"], "properties": {
                    "author": {"type": "string"}, "date": {"type": "string", "format": "date"}, "rating": {"type": "integer"}}}},
                "image": {"type": "string", "format": "uri"},
            }),
        ),
        json!({
            "name": "CORSAIR Vengeance RGB 64GB (4 x 16GB) 288-Pin PC RAM DDR5 6400 (PC5 51200) Desktop Memory Model CMH64GX5M4B6400C32",
            "sku": "N82E16820236956", "brand": "Corsair", "partNumber": "CMH64GX5M4B6400C32", "rating": 4, "review_count": 2,
            "capacity": "64GB (4 x 16GB)", "cas_latency": "CL32", "voltage": 1.4, "color": "black",
            "reviews": [{"author": "Blair", "date": "2023-04-25", "rating": 5}],
            "image": "https://c1.neweggimages.com/ProductImage/20-236-934-01.png",
        }),
        &["price", "first_listed"],
    );
}

#[test]
fn product_data_is_read_from_json_ld() {
    check(
        include_str!("data/extract/mat.html"),
        schema(
            &["title", "price"],
            json!({
                "title": {"type": "string"}, "price": {"type": "number"}, "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
                "in_stock": {"type": "boolean"}, "condition": {"enum": ["new", "used", "NewCondition"]},
                "return_days": {"type": "integer"}, "images": {"type": "array", "items": {"type": "string"}, "maxItems": 1},
                "brand": {"type": "object", "properties": {"name": {"type": "string"}}},
            }),
        ),
        json!({
            "title": "Magnetic Project Mat", "price": 19.95, "currency": "USD", "in_stock": true, "condition": "NewCondition",
            "images": ["https://cdn.shopify.com/s/files/1/0045/4092/4007/files/gZgoFxysdRGsjStx_93b1ccb7-6a61-469e-b1ca-f63f7fd6b4c0.jpg?v=1766187622"],
            "brand": {"name": "iFixit"},
        }),
        &["return_days"],
    );
}

#[test]
fn article_data_is_read_from_a_news_page() {
    check(
        include_str!("data/extract/news.html"),
        schema(
            &["headline", "author", "published_at"],
            json!({
                "headline": {"type": "string"}, "author": {"type": "string"},
                "published_at": {"type": "string", "format": "date-time"}, "publisher": {"type": "string"},
                "summary": {"type": "string"}, "language": {"type": "string"}, "image_url": {"type": "string"},
            }),
        ),
        json!({
            "headline": "Hong Kong chaos: China deploys troops and warns SURRENDER is only option", "author": "Laura Mowat",
            "published_at": "2019-11-19T10:48:00+00:00", "publisher": "Express.co.uk",
            "summary": "CHINA has sent troops to Hong Kong in a bid to restore order following the months of violent riots, warnings it will not allow the city to spiral into chaos.",
            "language": "en", "image_url": "https://cdn.images.express.co.uk/img/dynamic/78/750x445/1206313.jpg",
        }),
        &[],
    );
}

#[test]
fn recipe_data_is_read_from_rdfa_and_a_table() {
    check(
        include_str!("data/extract/recipe.html"),
        schema(
            &["name", "ingredients", "steps"],
            json!({
                "name": {"type": "string"}, "author": {"type": "string"}, "ingredients": {"type": "array", "items": {"type": "string"}},
                "steps": {"type": "array", "items": {"type": "string"}, "minItems": 2}, "prep_time_minutes": {"type": "integer"},
                "cookTimeHours": {"type": "number"}, "servings": {"type": "integer"}, "difficulty": {"enum": ["Easy", "Hard"]},
                "image": {"type": "string", "format": "uri"}, "vegan": {"type": "boolean"},
                "nutrients": {"type": "array", "items": {"type": "object", "properties": {
                    "nutrient": {"type": "string"}, "amount": {"type": "number"}}}},
            }),
        ),
        json!({
            "name": "Potato soup", "author": "Ines Huber", "ingredients": ["500 g potatoes", "1 onion", "1 l stock"],
            "steps": ["Peel and dice the potatoes.", "Cook everything until soft."], "prep_time_minutes": 20,
            "cookTimeHours": 65.0 / 60.0, "servings": 4, "difficulty": "Easy", "image": "https://site.test/pictures/soup.jpg",
            "nutrients": [{"nutrient": "Energy", "amount": 312}, {"nutrient": "Fat", "amount": 7.5}],
        }),
        &["vegan"],
    );
}

#[test]
fn event_data_is_read_from_microdata() {
    check(
        include_str!("data/extract/event.html"),
        schema(
            &["event"],
            json!({
                "event": {"type": "object", "required": ["title", "start"], "properties": {
                    "title": {"type": "string"}, "start": {"type": "string", "format": "date-time"}, "date": {"type": "string", "format": "date"},
                    "venue": {"type": "string"}, "city": {"type": "string"}, "address": {"type": "string"},
                    "performers": {"type": "array", "items": {"type": "string"}}, "ticket_price": {"type": "number"},
                    "available": {"type": "boolean"}, "einlass": {"type": "string"}, "age_limit": {"type": "integer"}}},
            }),
        ),
        json!({"event": {
            "title": "Nachtkonzert", "start": "2026-12-05T20:00:00+01:00", "date": "2026-12-05", "venue": "Stadthalle", "city": "Linz",
            "address": "Ring 7", "performers": ["Quartett Nord", "Mira Lang"], "ticket_price": 24.9, "available": false, "einlass": "19:30",
        }}),
        &[],
    );
}

#[test]
fn json_documents_are_structured_data() {
    let document = scraped(
        r#"{"title": "Cup", "price": "9.50 EUR", "tags": ["a"]}"#,
        "application/json",
        schema(
            &[],
            json!({"name": {"type": "string"}, "price": {"type": "number"}, "tags": {"type": "array"}}),
        ),
    );
    assert_eq!(
        document.json,
        Some(json!({"name": "Cup", "price": 9.5, "tags": ["a"]}))
    );
}

#[test]
fn missing_required_properties_are_reported() {
    let document = scraped(
        "<h1>Cup</h1><p>No more",
        "text/html",
        schema(&["price"], json!({"price": {"type": "number"}})),
    );
    assert_eq!(document.json, None);
    let warning = document.warning.unwrap();
    assert!(
        warning.contains("`json` is empty") && warning.contains("`price` (required)"),
        "{warning}"
    );
}
