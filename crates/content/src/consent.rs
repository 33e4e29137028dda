//! Banners and dialogs of consent tools, found by the names that the tools give to their elements. Text about cookies
//! that a site wrote itself has other names, and stays.

use crate::html::dom::{Attribute, Dom, attr};
use crate::html::tag::Tag;

/// Ids, sorted.
#[rustfmt::skip]
const IDS: [&str; 79] = [
    "BorlabsCookieBox", "BorlabsCookieBoxWrap", "BorlabsCookieWidget", "CookieBanner", "CookiebotWidget",
    "CybotCookiebotDialog", "CybotCookiebotDialogBodyUnderlay", "_evidon-background",
    "_evidon-barrier-wrapper", "_evidon_banner", "axeptio_main_button", "axeptio_overlay", "cc--main",
    "cc-main", "ccm-widget", "cliSettingsPopup", "cmpbox", "cmpbox2", "cmplz-cookiebanner-container",
    "cmplz-manage-consent", "cmpwrapper", "coi-banner-wrapper", "coiOverlay", "consent_blackbar",
    "cookie-bar", "cookie-consent-banner", "cookie-information-template-wrapper", "cookie-law-info-again",
    "cookie-law-info-bar", "cookie-notice", "cookieConsentBanner", "cookieNotice", "cookiefirst-root",
    "cookiescript_badge", "cookiescript_injected", "cookiescript_injected_wrapper", "didomi-host",
    "didomi-notice", "didomi-popup", "ez-cookie-notification", "gdpr-consent-tool-wrapper",
    "hs-eu-cookie-confirmation", "hu-cookies-notice", "iubenda-cs-banner", "iubenda-iframe", "klaro",
    "klaro-cookie-notice", "lanyard_root", "moove_gdpr_cookie_info_bar", "moove_gdpr_cookie_modal",
    "onetrust-banner-sdk", "onetrust-consent-sdk", "onetrust-pc-sdk", "orejime", "ot-sdk-btn-floating",
    "ppms_cm_popup_overlay", "qc-cmp2-container", "qc-cmp2-ui", "qcCmpUi", "sd-cmp", "shopify-pc__banner",
    "silktide-cookie-icon", "silktide-wrapper", "sliding-popup", "sp-cc", "tarteaucitronAlertBig",
    "tarteaucitronIcon", "tarteaucitronRoot", "tc-privacy-wrapper", "termly-code-snippet-support",
    "transcend-consent-manager", "trustarc-banner-container", "trustarc-banner-overlay",
    "trustarcNoticeFrame", "truste-consent-content", "truste-consent-track", "usercentrics-button",
    "usercentrics-cmp-ui", "usercentrics-root",
];

/// Classes, sorted.
#[rustfmt::skip]
const CLASSES: [&str; 43] = [
    "BorlabsCookie-box-wrap", "axeptio_mount", "brlbs-cmpnt-cb-preset", "cc-revoke", "cc-window",
    "ccm-root", "ch2-container", "cky-btn-revisit-wrapper", "cky-consent-bar", "cky-consent-container",
    "cky-modal", "cky-overlay", "cli-bar-container", "cli-modal", "cli-modal-backdrop",
    "cmplz-cookiebanner", "cmplz-manage-consent", "cmplz-soft-cookiewall", "cookie-notice-container",
    "cookie-revoke-container", "cookiefirst-root", "didomi-notice-banner", "didomi-popup-container",
    "eu-cookie-compliance-banner", "fc-ab-root", "fc-consent-root", "iubenda-cs-container",
    "iubenda-tp-btn", "js-cookie-consent-banner", "onetrust-pc-dark-filter", "optanon-alert-box-wrapper",
    "osano-cm-dialog", "osano-cm-info-dialog", "osano-cm-widget", "osano-cm-window",
    "ppms_cm_popup_overlay", "qc-cmp-ui-container", "qc-cmp2-container", "sqs-cookie-banner-v2",
    "truste_box_overlay", "truste_overlay", "truste_popframe", "wpcc-container",
];

/// Starts of ids and classes that continue with a number or a hash.
const PREFIXES: [&str; 4] = [
    "sp_message_container_", "sp_message_iframe_", "termly-styles-", "cookiefirst-widget-",
];

/// Returns the banners of consent tools as a list of CSS selectors, which a browser can use.
pub fn selectors() -> String {
    let ids = IDS.iter().map(|id| format!("#{id}"));
    let classes = CLASSES.iter().map(|class| format!(".{class}"));
    let starts = PREFIXES
        .iter()
        .map(|start| format!("[id^=\"{start}\"],[class^=\"{start}\"]"));
    ids.chain(classes).chain(starts).collect::<Vec<_>>().join(",")
}

/// Marks the banners of consent tools in `dropped`. Returns whether one of them has text or a frame.
pub(crate) fn mark(dom: &Dom, dropped: &mut [bool]) -> bool {
    let names_banner = |attribute: &Attribute| {
        let value = dom.value(attribute);
        match attribute.name {
            attr::ID => is_known(value, &IDS),
            attr::CLASS => value
                .split_ascii_whitespace()
                .any(|class| is_known(class, &CLASSES)),
            _ => false,
        }
    };
    let (mut end, mut has_content) = (0, false);
    for id in dom.with_attribute(names_banner) {
        if id < end || !may_be_banner(dom.tag(id)) {
            continue;
        }
        end = dom.end(id);
        dropped[id as usize] = true;
        has_content |=
            !dom.text_of(id, usize::MAX).trim().is_empty() || (id..end).any(|id| dom.tag(id) == Tag::Iframe);
    }
    has_content
}

fn may_be_banner(tag: Tag) -> bool {
    !matches!(tag, Tag::Html | Tag::Body | Tag::Main | Tag::Article) && tag.heading_level().is_none()
}

fn is_known(name: &str, names: &[&str]) -> bool {
    let may_be = STARTS[hash(name.as_bytes())];
    may_be && (names.binary_search(&name).is_ok() || PREFIXES.iter().any(|start| name.starts_with(start)))
}

/// Whether the first bytes of a known name have this hash. Most names of a page fail this test and need no search.
static STARTS: [bool; 4096] = starts();

const fn starts() -> [bool; 4096] {
    let mut starts = [false; 4096];
    let lists: [&[&str]; 3] = [&IDS, &CLASSES, &PREFIXES];
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            starts[hash(lists[list][at].as_bytes())] = true;
            at += 1;
        }
        list += 1;
    }
    starts
}

/// Hashes the first four bytes, which every known name has.
const fn hash(name: &[u8]) -> usize {
    let mut hash = 0;
    let mut at = 0;
    while at < 4 && at < name.len() {
        hash = (hash * 31 + name[at] as usize) % 4096;
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, IDS};
    use crate::{HtmlPage, Selection};

    #[test]
    fn the_names_are_sorted_for_binary_search() {
        assert!(IDS.is_sorted() && CLASSES.is_sorted());
    }

    fn check(html: &str, expected: &str) {
        let page = HtmlPage::parse(html, &"https://site.test/".parse().unwrap());
        let selection = |remove_consent| Selection {
            remove_consent,
            ..Selection::default()
        };
        let content = page.convert(&selection(true));
        assert_eq!(content.markdown().trim(), expected);
        assert_eq!(content.removed_consent(), !expected.contains("ookies"), "{html}");
        assert!(
            page.convert(&selection(false)).markdown().contains("cookies"),
            "{html}"
        );
    }

    #[test]
    fn the_selectors_are_valid_css() {
        for selector in super::selectors().split(',') {
            crate::Selector::parse(selector).unwrap();
        }
    }

    #[test]
    fn banners_are_removed_and_texts_about_cookies_stay() {
        check(
            "<p>Text</p><div id=onetrust-consent-sdk><div id=onetrust-banner-sdk>We use cookies <button>OK</button></div></div>",
            "Text",
        );
        check(
            "<div id=sp_message_container_1024567>Our 300 partners use cookies</div><p>Text</p>",
            "Text",
        );
        check(
            "<p>Text</p><div class='a cky-consent-container'>cookies</div>",
            "Text",
        );
        // A heading or the root of the page is not a banner.
        check("<h2 id=cookie-notice>About cookies</h2>", "## About cookies");
        check(
            "<body class=cookie-notice-container><p>Our cookies</p>",
            "Our cookies",
        );
        check("<div id=cookies><p>Oat cookies</p></div>", "Oat cookies");
    }
}
