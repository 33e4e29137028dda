//! Results of the formats `product` and `menu` (docs/API.md section 4.2): what a page states about what it sells.

use serde::{Deserialize, Serialize};

/// A product and its variants.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Product {
    /// Name of the product.
    pub title: String,
    /// Brand or manufacturer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// Category in the words of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// URL of the product.
    pub url: String,
    /// Description of the product.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What can be bought, in the order of the page.
    pub variants: Vec<ProductVariant>,
}

/// What can be bought of a product.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ProductVariant {
    /// Number of the manufacturer or global trade item number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Number of the merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    /// Name of the variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Price; the lowest where the page states a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it can be bought.
    pub availability: Availability,
    /// Pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Picture>,
}

/// An amount of money.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Price {
    /// Amount in units of the currency.
    pub amount: f64,
    /// ISO 4217 code of the currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The price as the page states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formatted: Option<String>,
}

/// Whether something can be bought.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Availability {
    /// False if the page says that it cannot be bought now.
    pub in_stock: bool,
    /// Availability in the words of schema.org, such as `OutOfStock`; absent if the page does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A picture of something that is sold.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Picture {
    /// Absolute URL.
    pub url: String,
}

/// The menu of a restaurant.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Menu {
    /// Always true.
    pub is_menu: bool,
    /// Always 1: the page states the menu.
    pub confidence: f64,
    /// Whose menu it is.
    pub merchant: Merchant,
    /// Currency of the first price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Sections in the order of the page.
    pub sections: Vec<MenuSection>,
    /// URL of the page.
    pub source_url: String,
}

/// Whose menu a menu is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Merchant {
    /// Name; the host if the page states none.
    pub name: String,
    /// Type in the words of schema.org, such as `Restaurant`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Address in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// A group of items of a menu.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MenuSection {
    /// Number of the section, from 1.
    pub id: String,
    /// Name of the section.
    pub name: String,
    /// Description of the section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Items in the order of the page.
    pub items: Vec<MenuItem>,
}

/// An item of a menu.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MenuItem {
    /// Numbers of the section and of the item in it, such as `1.2`.
    pub id: String,
    /// Name of the item.
    pub name: String,
    /// Description of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures.
    pub images: Vec<Picture>,
    /// Price of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it can be ordered.
    pub availability: Availability,
    /// Diets that it suits in the words of schema.org, such as `VeganDiet`.
    pub dietary: Vec<String>,
    /// Energy in kilocalories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calories: Option<f64>,
    /// Always empty: pages do not state the options of an item.
    pub option_groups: Vec<String>,
    /// Numbers of the item.
    pub identifiers: MenuIdentifiers,
    /// URL of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// URL of the page.
    pub source_url: String,
}

/// Numbers of an item of a menu.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MenuIdentifiers {
    /// Number of the merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_item_id: Option<String>,
}
