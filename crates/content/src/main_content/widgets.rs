//! What widespread shop and blog software adds to pages that is not their content: filters, forms for replies, and
//! copies that its style sheets hide. The names are the same on all sites that use it.

use std::sync::LazyLock;

use crate::hash::HashSet;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Classes and identifiers of Shopify, WooCommerce, WordPress, Elementor, Webflow, Drupal, Magento, MediaWiki, and of the
/// forums Discourse, Invision, MyBB, vBulletin and XenForo.
const WIDGETS: &str = "CartDrawer a11y-new-window-message a11y-refresh-page-message a2a_kit active-facets \
    add_to_cart_button addthis_toolbox addtoany_share_save_container bbCodeBlock-expandLink block-menu \
    block-minicart cart-drawer cart-notification-wrapper catlinks comment-respond comments-pagination \
    crawler-linkback-list disqus_thread elementor-location-footer elementor-location-header \
    elementor-location-popup elementor-nav-menu facetedSearch facets facets-container facets-wrapper formkit-form \
    forum_info gform_wrapper heateor_sss_sharing_container hs-form ipsBreadcrumb ipsComment_controls \
    ipsItemControls jp-relatedposts js-post-menu limiter mailpoet_form mc4wp-form memberaction_body \
    menu-item-type-custom menu-item-type-post_type menu-item-type-taxonomy message-actionBar \
    message-attribution-opposite message-avatar-wrapper message-signature message-userExtras minicart-wrapper mobile-facets \
    mw-editsection mw-jump-link popupbody post-navigation post_controls posts-navigation predictive-search \
    printfooter product-form__quantity products-sort-order quick-add-modal sharedaddy shopify-payment-button \
    shopify-section-announcement-bar shopify-section-footer shopify-section-group-footer-group \
    shopify-section-group-header-group shopify-section-header site-footer slider-buttons sorter toolbar-products \
    up-sells upsells w-nav wc-tabs widget_archive widget_calendar widget_categories widget_layered_nav widget_meta \
    widget_nav_menu widget_price_filter widget_product_categories widget_products widget_recent_comments \
    widget_recent_entries widget_rss widget_search widget_shopping_cart_content widget_tag_cloud \
    woocommerce-message woocommerce-mini-cart woocommerce-notices-wrapper woocommerce-ordering \
    woocommerce-result-count wpcf7 wpforms-container yarpp-related yith-wcwl-add-to-wishlist";
/// Parts of a price, and the class around them with which they are shown (true) or hidden.
const PRICE_PARTS: &[(&str, &str, bool)] = &[
    ("price__badge--sale", "price--on-sale", true),
    ("price__badge--sold-out", "price--sold-out", true),
    ("price__badge-sale", "price--on-sale", true),
    ("price__badge-sold-out", "price--sold-out", true),
    ("price__regular", "price--on-sale", false),
    ("price__sale", "price--on-sale", true),
    ("price__unit", "price--unit-available", true),
];
/// What is said in a price for those who do not see it.
const SPOKEN: [&str; 2] = ["screen-reader-text", "visually-hidden"];
/// The name of a product on its picture, which is hidden where the name is below, too; a link of a product to its own
/// page; other products.
const NAME_ON_PICTURE: &str = "card__information";
const OWN_LINK: &str = "product__title";
const RELATED: &str = "related";
/// Maximum number of elements between such a part and the one that decides whether it is shown, and of classes of each.
const MAX_LEVELS: usize = 5;
const MAX_CLASSES: usize = 24;

static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let parts = PRICE_PARTS.iter().map(|&(part, ..)| part);
    let others = [NAME_ON_PICTURE, OWN_LINK, RELATED].into_iter().chain(SPOKEN);
    WIDGETS.split(' ').chain(parts).chain(others).collect()
});

/// Returns true if a class or identifier may be that of a widget.
pub(super) fn is_name(name: &str) -> bool {
    NAMES.contains(name)
}

/// Returns true for a widget, and for what the style sheets of the software hide.
pub(super) fn is_widget(dom: &Dom, id: NodeId) -> bool {
    let has = |id: NodeId, class: &str| dom.classes(id).take(MAX_CLASSES).any(|of| of == class);
    let is_in = |class: &str| dom.ancestors(id).take(MAX_LEVELS).any(|up| has(up, class));
    let mut names = dom.classes(id).take(MAX_CLASSES).chain(dom.attr(id, attr::ID));
    names.any(|name| match name {
        NAME_ON_PICTURE => is_in("card__inner") && is_in("card--media"),
        OWN_LINK => dom.tag(id) == Tag::A && has(dom.parent(id), OWN_LINK),
        RELATED => has(id, "products") || has(id, "block"),
        _ if SPOKEN.contains(&name) => is_in("price"),
        _ => match PRICE_PARTS.iter().find(|(part, ..)| *part == name) {
            Some(&(_, state, shows)) => is_in("price") && is_in(state) != shows,
            None => is_name(name),
        },
    })
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::super::choose;
    use crate::html::parse::parse;

    /// Returns the text of a page of a shop that is kept.
    fn kept(content: &str) -> String {
        let text = "A mug of two colours, glazed by hand and fired twice, for coffee and tea.".repeat(3);
        let dom = parse(&format!("<main><h1>Mug</h1><p>{text}</p>{content}</main>"));
        let mut dropped = vec![false; dom.nodes.len()];
        let roots = choose(
            &dom,
            &Url::parse("https://shop.example/mug").unwrap(),
            &mut dropped,
        );
        let mut kept = String::new();
        let mut at = roots[0];
        while at < dom.end(roots[0]) {
            if dropped[at as usize] {
                at = dom.end(at);
                continue;
            }
            kept.push_str(dom.text(at));
            at += 1;
        }
        kept.replace(&text, "")
    }

    #[test]
    fn the_price_that_is_shown_is_kept() {
        let price = |class: &str| {
            kept(&format!(
                "<p class='price {class}'><span class=price__regular><span class=visually-hidden>Regular price</span>\
                 $20</span><span class=price__sale><s>$20</s> $15</span><span class=price__badge-sale>Sale</span></p>"
            ))
        };
        assert_eq!(price("price--large"), "Mug$20");
        assert_eq!(price("price--on-sale"), "Mug$20 $15Sale");
    }

    #[test]
    fn the_name_on_the_picture_of_a_card_is_dropped() {
        let card = |class: &str| {
            kept(&format!(
                "<div class='card {class}'><div class=card__inner><p class=card__information>On it</div>\
                 <p class=card__information>Below</div>"
            ))
        };
        assert_eq!(card("card--media"), "MugBelow");
        assert_eq!(card("card--text"), "MugOn itBelow");
    }

    #[test]
    fn widgets_are_dropped() {
        for (class, is_kept) in [
            ("facets-container", false),
            ("product__description", true),
            ("woocommerce-result-count", false),
            ("related products", false),
        ] {
            let widget = kept(&format!("<p class='{class}'>A mug with a handle, for tea.</p>"));
            assert_eq!(widget.contains("handle"), is_kept, "{class}");
        }
    }

    #[test]
    fn most_of_a_page_is_no_widget() {
        assert!(
            kept(&format!(
                "<p class=facets>{}</p>",
                "It has many facets. ".repeat(40)
            ))
            .contains("many")
        );
    }
}
