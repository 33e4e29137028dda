//! Where a link leads: a table of contents links to parts of the page, sources and references link to other
//! sites, navigation links to pages of the same site.

use crate::html::links;

/// Kind of a link's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkTarget {
    /// A part of the same page.
    Fragment,
    /// Another page of the site.
    Site,
    /// A page of another site.
    OtherSite,
}

/// Returns the kind of `href` on a page of `host`. A subdomain belongs to the same site.
pub(super) fn of(href: &str, host: &str) -> LinkTarget {
    let href = href.trim_start();
    if href.starts_with('#') {
        return LinkTarget::Fragment;
    }
    let Some((scheme, rest)) = href.split_once("//") else {
        return LinkTarget::Site;
    };
    if !matches!(scheme, "" | "http:" | "https:") {
        return LinkTarget::Site;
    }
    let target = rest.split(['/', '?', '#', ':']).next().unwrap_or("");
    match links::is_same_site(target, host) {
        true => LinkTarget::Site,
        false => LinkTarget::OtherSite,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_parts_of_the_page_the_site_or_other_sites() {
        for (href, expected) in [
            ("#part", LinkTarget::Fragment),
            ("/news", LinkTarget::Site),
            ("page.html#part", LinkTarget::Site),
            ("mailto:a@example.com", LinkTarget::Site),
            ("https://Example.org/a", LinkTarget::Site),
            ("//shop.example.org", LinkTarget::Site),
            ("https://example.com/x", LinkTarget::OtherSite),
            ("https://notexample.org:8080/", LinkTarget::OtherSite),
        ] {
            assert_eq!(of(href, "www.example.org"), expected, "{href}");
        }
        assert_eq!(of("https://example.org/", "blog.example.org"), LinkTarget::Site);
    }
}
