//! Result of the format `branding` (docs/API.md section 4.2): the look of a page as a browser shows it.

use std::collections::BTreeMap;

use harvestman_derive::response;
use serde_json::Value;

/// Colors, fonts, measures and pictures of a page. Only what the page shows is present.
#[response(Default)]
pub struct Branding {
    /// `light` or `dark`, by the background of the page.
    pub color_scheme: Option<String>,
    /// Name of the site or organization.
    pub brand_name: Option<String>,
    /// URL of the logo, or a `data:` URL of an inline SVG.
    pub logo: Option<String>,
    /// Font families, the most used first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fonts: Vec<BrandFont>,
    /// Colors as `#RRGGBB`: `primary`, `secondary`, `accent`, `background`, `textPrimary`, `textSecondary`, `link`, and
    /// `success`, `warning` and `error` if the page names them as CSS variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub colors: BTreeMap<String, String>,
    /// Fonts and sizes of headings and text.
    pub typography: Option<Typography>,
    /// Roundness of corners: `borderRadius`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub spacing: BTreeMap<String, String>,
    /// Styles of `buttonPrimary`, `buttonSecondary` and `input`: `background`, `textColor`, `borderColor`,
    /// `borderRadius`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, BTreeMap<String, String>>,
    /// Icons: `style` (`outline` or `filled`) and `primaryColor`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub icons: BTreeMap<String, String>,
    /// The most used transition: `transitionDuration` and `easing`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub animations: BTreeMap<String, String>,
    /// Measures of the page in CSS pixels.
    #[serde(skip_serializing_if = "BrandLayout::is_empty")]
    pub layout: BrandLayout,
    /// How the page speaks: `emojiUsage` (`none`, `minimal` or `frequent`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tone: BTreeMap<String, String>,
    /// URLs: `logo`, `favicon`, `ogImage`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
}

/// A font family of a page.
#[response(Eq, Default)]
pub struct BrandFont {
    /// Name of the family.
    pub family: String,
}

/// Fonts and sizes of a page.
#[response(Default)]
pub struct Typography {
    /// Family of `primary`, `heading` and `code`.
    pub font_families: BTreeMap<String, String>,
    /// Families of `heading` and `body` with their fallbacks.
    pub font_stacks: BTreeMap<String, Vec<String>>,
    /// Sizes of `h1`, `h2`, `h3` and `body` in CSS pixels, such as `32px`.
    pub font_sizes: BTreeMap<String, String>,
    /// Line heights of `heading` and `body`, as multiples of the font size.
    pub line_heights: BTreeMap<String, f64>,
    /// Weights of `heading` and `body`, from 100 to 900.
    pub font_weights: BTreeMap<String, f64>,
}

/// Measures of a page.
#[response(Eq, Default)]
pub struct BrandLayout {
    /// The column or grid of the content.
    pub grid: Option<BrandGrid>,
    /// Height of the header, such as `72px`.
    pub header_height: Option<String>,
    /// Height of the footer.
    pub footer_height: Option<String>,
}

impl BrandLayout {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Column or grid of the content of a page.
#[response(Eq, Default)]
pub struct BrandGrid {
    /// Columns of the CSS grid with the most columns.
    pub columns: Option<u32>,
    /// Greatest width of the content, such as `1200px`.
    pub max_width: Option<String>,
}

impl Branding {
    /// Parses what a browser measured. Returns `None` if the value has a different shape.
    pub fn from_measured(value: Value) -> Option<Branding> {
        serde_json::from_value(value).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Branding;

    #[test]
    fn what_a_page_does_not_show_is_absent() {
        let measured =
            json!({"colorScheme": "dark", "colors": {"primary": "#FF0000"}, "logo": null, "unknown": 1});
        let branding = Branding::from_measured(measured).unwrap();
        let sent = serde_json::to_value(&branding).unwrap();
        assert_eq!(
            sent,
            json!({"colorScheme": "dark", "colors": {"primary": "#FF0000"}})
        );
        assert_eq!(Branding::from_measured(json!("text")), None);
    }
}
