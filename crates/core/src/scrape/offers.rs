//! The formats `product` and `menu`: what the JSON-LD and microdata of a page state, in the words of schema.org.
//! Nothing is guessed from text.

use harvestman_content::Facts;
use serde_json::{Map, Value};
use url::Url;

use crate::api::offer::{
    Availability, Menu, MenuIdentifiers, MenuItem, MenuSection, Merchant, Picture, Price, Product,
    ProductVariant,
};
use crate::extract::ADDRESS_PARTS;

pub(super) const NO_PRODUCT: &str =
    "`product` is missing: the page has no schema.org product as JSON-LD or microdata.";
pub(super) const NO_MENU: &str =
    "`menu` is missing: the page has no schema.org menu as JSON-LD or microdata.";

/// Types of schema.org that a menu can belong to.
const RESTAURANTS: [&str; 6] = [
    "Restaurant", "FoodEstablishment", "CafeOrCoffeeShop", "Bakery", "BarOrPub", "FastFoodRestaurant",
];
/// Maximum nesting of the objects that are searched.
const MAX_DEPTH: usize = 6;
/// Maximum variants, sections, or items of a section that are returned.
const MAX_ITEMS: usize = 1000;

type Object = Map<String, Value>;

/// Returns the product that a page states; the first, if there are several.
pub(super) fn product(facts: &Facts, page: &Url) -> Option<Product> {
    const KINDS: [&str; 4] = ["ProductGroup", "Product", "IndividualProduct", "ProductModel"];
    let stated = KINDS
        .iter()
        .find_map(|kind| find(facts, &|object| is(object, kind)))?;
    let title = text(stated, "name")?;
    let parts: Vec<&Object> = objects(stated, "hasVariant").collect();
    let variants = match parts.is_empty() {
        true => variants(stated, page),
        false => parts.into_iter().flat_map(|part| variants(part, page)).collect(),
    };
    Some(Product {
        title,
        brand: text(stated, "brand").or_else(|| text(stated, "manufacturer")),
        category: text(stated, "category"),
        url: url(stated, "url", page).unwrap_or_else(|| page.to_string()),
        description: text(stated, "description"),
        variants: variants.into_iter().take(MAX_ITEMS).collect(),
    })
}

/// Returns the variants of a product, one for each offer.
fn variants(product: &Object, page: &Url) -> Vec<ProductVariant> {
    let mut offers: Vec<&Object> = Vec::new();
    for offer in objects(product, "offers") {
        let inner: Vec<&Object> = objects(offer, "offers").collect();
        match inner.is_empty() {
            true => offers.push(offer),
            false => offers.extend(inner),
        }
    }
    let images = images(product, page);
    let id = ["gtin", "gtin13", "gtin12", "gtin14", "gtin8", "productID", "mpn"]
        .iter()
        .find_map(|name| text(product, name));
    let variant = |offer: &Object| ProductVariant {
        id: id.clone(),
        sku: text(offer, "sku").or_else(|| text(product, "sku")),
        title: text(offer, "name").or_else(|| text(product, "name")),
        price: price(offer),
        availability: availability(offer),
        images: images.clone(),
    };
    offers.into_iter().map(variant).collect()
}

/// Returns the menu that a page states.
pub(super) fn menu(facts: &Facts, page: &Url) -> Option<Menu> {
    let menu = find(facts, &|object| {
        is(object, "Menu") && (object.contains_key("hasMenuSection") || object.contains_key("hasMenuItem"))
    })?;
    let restaurant = find(facts, &|object| {
        ["hasMenu", "menu"]
            .iter()
            .any(|name| objects(object, name).any(|inner| inner == menu))
    })
    .or_else(|| find(facts, &|object| RESTAURANTS.iter().any(|kind| is(object, kind))));
    let name = restaurant.and_then(|object| text(object, "name"));
    let mut sections = Vec::new();
    add_sections(menu, page, 0, &mut sections);
    let items = sections.iter().flat_map(|section: &MenuSection| &section.items);
    let currency = items
        .filter_map(|item| item.price.as_ref()?.currency.clone())
        .next();
    Some(Menu {
        is_menu: true,
        confidence: 1.0,
        merchant: Merchant {
            name: name.unwrap_or_else(|| page.host_str().unwrap_or_default().to_owned()),
            kind: restaurant.and_then(|object| kinds(object).next().map(str::to_owned)),
            location: restaurant.and_then(|object| address(object.get("address")?)),
        },
        currency,
        sections,
        source_url: page.to_string(),
    })
}

/// Adds the sections of a menu or section, each after the one that holds it.
fn add_sections(holder: &Object, page: &Url, depth: usize, sections: &mut Vec<MenuSection>) {
    let id = (sections.len() + 1).to_string();
    let items: Vec<MenuItem> = objects(holder, "hasMenuItem")
        .take(MAX_ITEMS)
        .enumerate()
        .filter_map(|(index, item)| menu_item(item, format!("{id}.{}", index + 1), page))
        .collect();
    // A menu without items of its own is not a section.
    if depth > 0 || !items.is_empty() {
        sections.push(MenuSection {
            name: text(holder, "name").unwrap_or_default(),
            description: text(holder, "description"),
            items,
            id,
        });
    }
    for section in objects(holder, "hasMenuSection") {
        if depth < MAX_DEPTH && sections.len() < MAX_ITEMS {
            add_sections(section, page, depth + 1, sections);
        }
    }
}

fn menu_item(item: &Object, id: String, page: &Url) -> Option<MenuItem> {
    let offer = objects(item, "offers").next();
    let calories = objects(item, "nutrition")
        .next()
        .and_then(|found| text(found, "calories"));
    let diets = list(item, "suitableForDiet").filter_map(|diet| Some(term(diet.as_str()?)));
    Some(MenuItem {
        id,
        name: text(item, "name")?,
        description: text(item, "description"),
        images: images(item, page),
        price: offer.and_then(price),
        availability: offer.map_or(availability(item), availability),
        dietary: diets.collect(),
        calories: calories.and_then(|text| amount(&text)),
        option_groups: Vec::new(),
        identifiers: MenuIdentifiers {
            merchant_item_id: text(item, "sku").or_else(|| text(item, "identifier")),
        },
        url: url(item, "url", page),
        source_url: page.to_string(),
    })
}

/// Returns the price of an offer; the lowest of a range.
fn price(offer: &Object) -> Option<Price> {
    let holder = objects(offer, "priceSpecification").next().unwrap_or(offer);
    let stated = ["price", "lowPrice", "minPrice"]
        .iter()
        .find_map(|name| text(offer, name).or_else(|| text(holder, name)))?;
    Some(Price {
        amount: amount(&stated)?,
        currency: text(offer, "priceCurrency").or_else(|| text(holder, "priceCurrency")),
        formatted: Some(stated),
    })
}

fn availability(offer: &Object) -> Availability {
    let stated = text(offer, "availability").map(|text| term(&text));
    let unavailable = ["OutOfStock", "SoldOut", "Discontinued", "Reserved"];
    Availability {
        in_stock: stated.as_deref().is_none_or(|term| !unavailable.contains(&term)),
        text: stated,
    }
}

/// Returns the number in a price or in `250 calories`. A comma before at most two digits at the end is a decimal one.
fn amount(text: &str) -> Option<f64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let number = &text[start..];
    let end = number
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')
        .unwrap_or(number.len());
    let number = number[..end].trim_end_matches(['.', ',']);
    let decimal = number.rfind(['.', ',']).filter(|&at| {
        let follows_thousands = number[..at].contains(if number[at..].starts_with('.') { ',' } else { '.' });
        follows_thousands
            || number.len() - at - 1 <= 2
            || (number[at..].starts_with('.') && number.matches('.').count() == 1)
    });
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    match decimal {
        Some(at) => format!("{}.{}", digits(&number[..at]), digits(&number[at..]))
            .parse()
            .ok(),
        None => digits(number).parse().ok(),
    }
}

fn images(object: &Object, page: &Url) -> Vec<Picture> {
    let found = list(object, "image").filter_map(|image| match image {
        Value::String(text) => page.join(text).ok(),
        Value::Object(inner) => page
            .join(&text(inner, "contentUrl").or_else(|| text(inner, "url"))?)
            .ok(),
        _ => None,
    });
    found
        .map(|url| Picture { url: url.into() })
        .take(MAX_ITEMS)
        .collect()
}

/// Returns an address in one line.
fn address(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(parts) => {
            let found: Vec<String> = ADDRESS_PARTS
                .iter()
                .filter_map(|name| text(parts, name))
                .collect();
            (!found.is_empty()).then(|| found.join(", "))
        }
        _ => None,
    }
}

/// Returns the first object that matches, outer ones first.
fn find<'f>(facts: &'f Facts, matches: &dyn Fn(&Object) -> bool) -> Option<&'f Object> {
    fn inside<'f>(object: &'f Object, matches: &dyn Fn(&Object) -> bool, depth: usize) -> Option<&'f Object> {
        if matches(object) {
            return Some(object);
        }
        if depth == MAX_DEPTH {
            return None;
        }
        let inner = object.values().flat_map(|value| match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        });
        inner
            .filter_map(Value::as_object)
            .find_map(|object| inside(object, matches, depth + 1))
    }
    facts.objects.iter().find_map(|object| inside(object, matches, 0))
}

fn kinds(object: &Object) -> impl Iterator<Item = &str> {
    list(object, "@type").filter_map(Value::as_str)
}

fn is(object: &Object, kind: &str) -> bool {
    kinds(object).any(|name| name.eq_ignore_ascii_case(kind))
}

/// Returns a value, or the values of a list.
fn list<'o>(object: &'o Object, name: &str) -> impl Iterator<Item = &'o Value> {
    match object.get(name) {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    }
    .iter()
}

fn objects<'o>(object: &'o Object, name: &str) -> impl Iterator<Item = &'o Object> {
    list(object, name).filter_map(Value::as_object)
}

/// Returns a value as text; for an object, its name.
fn text(object: &Object, name: &str) -> Option<String> {
    list(object, name).find_map(|value| match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(inner) if name != "name" => text(inner, "name"),
        _ => None,
    })
}

fn url(object: &Object, name: &str, page: &Url) -> Option<String> {
    page.join(&text(object, name)?).ok().map(String::from)
}

/// Returns a term of schema.org without the URL of the vocabulary.
fn term(text: &str) -> String {
    text.rsplit(['/', '#']).next().unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use harvestman_content::HtmlPage;
    use serde_json::json;

    use super::*;

    fn facts(html: &str) -> (Facts, Url) {
        let url: Url = "https://shop.test/p".parse().unwrap();
        (HtmlPage::parse(html, &url).facts(), url)
    }

    #[test]
    fn a_product_has_a_variant_for_each_offer() {
        let (facts, url) = facts(
            r#"<script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"BreadcrumbList"},
            {"@type":"Product","name":"Lamp","brand":{"@type":"Brand","name":"Heron"},"sku":"L1","image":"/l.png",
             "offers":[{"@type":"Offer","price":"1.299,50","priceCurrency":"EUR","availability":"https://schema.org/InStock"},
                       {"@type":"Offer","name":"Large","price":20,"priceCurrency":"EUR","availability":"OutOfStock"}]}]}</script>"#,
        );
        let product = serde_json::to_value(product(&facts, &url).unwrap()).unwrap();
        assert_eq!(
            product,
            json!({
                "title": "Lamp", "brand": "Heron", "url": "https://shop.test/p",
                "variants": [
                    {"sku": "L1", "title": "Lamp", "price": {"amount": 1299.5, "currency": "EUR", "formatted": "1.299,50"},
                     "availability": {"inStock": true, "text": "InStock"}, "images": [{"url": "https://shop.test/l.png"}]},
                    {"sku": "L1", "title": "Large", "price": {"amount": 20.0, "currency": "EUR", "formatted": "20"},
                     "availability": {"inStock": false, "text": "OutOfStock"}, "images": [{"url": "https://shop.test/l.png"}]},
                ],
            })
        );
    }

    #[test]
    fn json_for_old_browsers_and_types_in_lower_case_are_read() {
        let (stated, url) = facts(
            r#"<script type="application/ld+json">/*<![CDATA[*/ {"@type":"product","name":"Rope"}; /*]]>*/</script>"#,
        );
        assert_eq!(product(&stated, &url).unwrap().title, "Rope");
    }

    #[test]
    fn microdata_states_products_too_and_a_page_without_one_has_none() {
        let (stated, url) = facts(
            "<div itemscope itemtype=https://schema.org/Product><h1 itemprop=name>Cup</h1>
             <div itemprop=offers itemscope itemtype=https://schema.org/AggregateOffer>
             <meta itemprop=lowPrice content=4.5><meta itemprop=priceCurrency content=USD></div></div>",
        );
        let cup = product(&stated, &url).unwrap();
        assert_eq!(cup.title, "Cup");
        assert_eq!(cup.variants[0].price.as_ref().unwrap().amount, 4.5);
        assert!(cup.variants[0].availability.in_stock);
        let (none, url) = facts("<h1>Cup</h1><p>Price: 4.50</p>");
        assert_eq!((product(&none, &url), menu(&none, &url)), (None, None));
    }

    #[test]
    fn a_menu_has_its_sections_items_and_restaurant() {
        let (facts, url) = facts(
            r#"<script type="application/ld+json">{"@type":"Restaurant","name":"Reed","address":{"streetAddress":"Shore 1","addressLocality":"Ulm"},
            "hasMenu":{"@type":"Menu","hasMenuSection":[{"@type":"MenuSection","name":"Soups","hasMenuItem":[
              {"@type":"MenuItem","name":"Broth","offers":{"@type":"Offer","price":"6.00","priceCurrency":"EUR"},
               "suitableForDiet":"https://schema.org/VeganDiet","nutrition":{"calories":"120 kcal"}}]}]}}</script>"#,
        );
        let menu = menu(&facts, &url).unwrap();
        assert_eq!(menu.merchant.name, "Reed");
        assert_eq!(menu.merchant.kind.as_deref(), Some("Restaurant"));
        assert_eq!(menu.merchant.location.as_deref(), Some("Shore 1, Ulm"));
        assert_eq!(menu.currency.as_deref(), Some("EUR"));
        let item = &menu.sections[0].items[0];
        assert_eq!(
            (item.id.as_str(), item.name.as_str(), item.calories),
            ("1.1", "Broth", Some(120.0))
        );
        assert_eq!(item.dietary, ["VeganDiet"]);
    }

    #[test]
    fn amounts_are_read_with_either_decimal_sign() {
        let check = |text: &str, expected: Option<f64>| assert_eq!(amount(text), expected, "{text}");
        check("12", Some(12.0));
        check("€ 1,299.00", Some(1299.0));
        check("1.299,00 €", Some(1299.0));
        check("9,5", Some(9.5));
        check("1,299", Some(1299.0));
        check("0.125", Some(0.125));
        check("free", None);
    }
}
