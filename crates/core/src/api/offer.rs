//! Results of the formats `product` and `menu` (docs/API.md section 4.2): what a page states about what it sells.

use harvestman_derive::response;

/// A product and its variants.
#[response(Default)]
pub struct Product {
    /// Name of the product.
    pub title: String,
    /// Brand or manufacturer.
    pub brand: Option<String>,
    /// Category in the words of the page.
    pub category: Option<String>,
    /// URL of the product.
    pub url: String,
    /// Description of the product.
    pub description: Option<String>,
    /// What can be bought, in the order of the page.
    pub variants: Vec<ProductVariant>,
}

/// What can be bought of a product.
#[response(Default)]
pub struct ProductVariant {
    /// Number of the manufacturer or global trade item number.
    pub id: Option<String>,
    /// Number of the merchant.
    pub sku: Option<String>,
    /// Name of the variant.
    pub title: Option<String>,
    /// Price; the lowest where the page states a range.
    pub price: Option<Price>,
    /// Whether it can be bought.
    pub availability: Availability,
    /// Pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Picture>,
}

/// An amount of money.
#[response(Default)]
pub struct Price {
    /// Amount in units of the currency.
    pub amount: f64,
    /// ISO 4217 code of the currency.
    pub currency: Option<String>,
    /// The price as the page states it.
    pub formatted: Option<String>,
}

/// Whether something can be bought.
#[response(Eq, Default)]
pub struct Availability {
    /// False if the page says that it cannot be bought now.
    pub in_stock: bool,
    /// Availability in the words of schema.org, such as `OutOfStock`; absent if the page does not state it.
    pub text: Option<String>,
}

/// A picture of something that is sold.
#[response(Eq, Default)]
pub struct Picture {
    /// Absolute URL.
    pub url: String,
}

/// The menu of a restaurant.
#[response(Default)]
pub struct Menu {
    /// Always true.
    pub is_menu: bool,
    /// Always 1: the page states the menu.
    pub confidence: f64,
    /// Whose menu it is.
    pub merchant: Merchant,
    /// Currency of the first price.
    pub currency: Option<String>,
    /// Sections in the order of the page.
    pub sections: Vec<MenuSection>,
    /// URL of the page.
    pub source_url: String,
}

/// Whose menu a menu is.
#[response(Eq, Default)]
pub struct Merchant {
    /// Name; the host if the page states none.
    pub name: String,
    /// Type in the words of schema.org, such as `Restaurant`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Address in one line.
    pub location: Option<String>,
}

/// A group of items of a menu.
#[response(Default)]
pub struct MenuSection {
    /// Number of the section, from 1.
    pub id: String,
    /// Name of the section.
    pub name: String,
    /// Description of the section.
    pub description: Option<String>,
    /// Items in the order of the page.
    pub items: Vec<MenuItem>,
}

/// An item of a menu.
#[response(Default)]
pub struct MenuItem {
    /// Numbers of the section and of the item in it, such as `1.2`.
    pub id: String,
    /// Name of the item.
    pub name: String,
    /// Description of the item.
    pub description: Option<String>,
    /// Pictures.
    pub images: Vec<Picture>,
    /// Price of the item.
    pub price: Option<Price>,
    /// Whether it can be ordered.
    pub availability: Availability,
    /// Diets that it suits in the words of schema.org, such as `VeganDiet`.
    pub dietary: Vec<String>,
    /// Energy in kilocalories.
    pub calories: Option<f64>,
    /// Always empty: pages do not state the options of an item.
    pub option_groups: Vec<String>,
    /// Numbers of the item.
    pub identifiers: MenuIdentifiers,
    /// URL of the item.
    pub url: Option<String>,
    /// URL of the page.
    pub source_url: String,
}

/// Numbers of an item of a menu.
#[response(Eq, Default)]
pub struct MenuIdentifiers {
    /// Number of the merchant.
    pub merchant_item_id: Option<String>,
}
