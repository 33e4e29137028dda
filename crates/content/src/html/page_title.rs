//! The title of a page without the name of its site: a heading, or what the page states as its title.

use super::dom::{Dom, NodeId, attr, collapse};
use super::tag::Tag;

/// Maximum number of headings that are read, and of nodes of each.
const HEADINGS: usize = 40;
const HEADING_NODES: usize = 200;
/// What stands between the title of a page and the name of its site.
const SEPARATORS: [&str; 7] = [" | ", " - ", " – ", " — ", " :: ", " · ", " » "];

/// What the metadata of a page says about its title.
pub(super) struct TitleMetadata {
    /// The headline of an article in JSON-LD.
    pub(super) headline: Option<String>,
    /// The `og:title`.
    pub(super) shared: Option<String>,
    /// The `og:site_name`.
    pub(super) site: Option<String>,
    pub(super) is_article: bool,
}

/// Returns the `h1` that `title` repeats, or the only `h1`, which is often a slogan unless the page is an article
/// or states no other title. Then come the headline, the title for links to the page, and `title`.
pub(super) fn page_title(dom: &Dom, metadata: TitleMetadata) -> Option<String> {
    let title = dom.all(Tag::Title).next();
    let title = title.map_or(String::new(), |id| collapse(&dom.text_of(id, 1000)));
    let lower = title.to_lowercase();
    let headings = dom.all(Tag::H1).take(HEADINGS).map(|id| heading_text(dom, id));
    let mut headings: Vec<String> = headings
        .filter(|text| text.len() > 2 && text.len() < 400)
        .filter(|text| !names_site(dom, &metadata, &lower, &text.to_lowercase()))
        .collect();
    if let Some(at) = headings
        .iter()
        .position(|text| lower.contains(&text.to_lowercase()))
    {
        return Some(headings.swap_remove(at));
    }
    let may_be_slogan = !metadata.is_article && metadata.shared.is_some();
    let only = headings.pop().filter(|_| headings.is_empty() && !may_be_slogan);
    only.or(metadata.headline)
        .or_else(|| Some(without_site(&metadata.shared?)))
        .or_else(|| Some(without_site(&title)))
        .filter(|title| !title.is_empty())
}

/// Returns true for an `h1` that is the name of the site: `og:site_name` is the same, `og:title` leaves it out of `title`,
/// or the rest of `title` is another heading. All texts are in lower case.
fn names_site(dom: &Dom, metadata: &TitleMetadata, title: &str, heading: &str) -> bool {
    let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
    let is_beside_heading = || {
        let before = title.strip_suffix(heading)?;
        let before = SEPARATORS
            .iter()
            .find_map(|separator| before.strip_suffix(separator))?;
        let mut headings = (0..dom.len())
            .filter(|&id| matches!(dom.tag(id), Tag::H1 | Tag::H2))
            .take(HEADINGS);
        headings.find(|&id| heading_text(dom, id).to_lowercase() == before)
    };
    lower(&metadata.site).is_some_and(|site| site == heading)
        || lower(&metadata.shared).is_some_and(|shared| title.contains(heading) && !shared.contains(heading))
        || is_beside_heading().is_some()
}

/// Returns the text of a heading without its controls and its link to itself.
pub(super) fn heading_text(dom: &Dom, heading: NodeId) -> String {
    let is_shown = |&id: &NodeId| {
        let mut around = dom.ancestors(id).take_while(|&up| up > heading);
        !around.any(|up| {
            dom.is_never_text(up) || dom.tag(up) == Tag::Button || dom.attr(up, attr::HIDDEN).is_some()
        })
    };
    let text: String = dom
        .below(heading)
        .take(HEADING_NODES)
        .filter(is_shown)
        .map(|id| match dom.tag(id) {
            Tag::Text => dom.text(id),
            tag if tag == Tag::Br || tag.is_block() => " ",
            _ => "",
        })
        .collect();
    collapse(&text).trim_end_matches(['¶', '#', ' ']).to_owned()
}

/// Returns a title without the site name after the last separator.
fn without_site(title: &str) -> String {
    for separator in SEPARATORS {
        if let Some(at) = title.rfind(separator)
            && at >= title.len() / 3
        {
            return title[..at].trim().to_owned();
        }
    }
    title.to_owned()
}

#[cfg(test)]
mod tests {
    use crate::html::parse::parse;

    fn title_of(html: &str) -> Option<String> {
        crate::html::json_ld::article_metadata(&parse(html)).title
    }

    #[test]
    fn the_title_is_a_heading_without_the_site() {
        for (html, title) in [
            (
                "<title>Herons | Birds</title><h1>Birds</h1><h1>Herons</h1>",
                "Herons",
            ),
            (
                "<title>Herons - Birds</title><h1>Birds</h1><h2>Herons</h2>",
                "Herons",
            ),
            (
                "<title>Birds - Herons</title><h1>Herons</h1><h2>Food</h2>",
                "Herons",
            ),
            (
                "<title>Herons, Birds</title><meta property=og:site_name content=Birds><h1>Birds</h1>",
                "Herons, Birds",
            ),
            (
                "<title>Herons — Birds</title><meta property=og:title content=Herons><h1>Birds</h1>",
                "Herons",
            ),
            ("<title>Herons — Birds</title><h1>Grey herons</h1>", "Grey herons"),
            ("<title>Herons — Birds</title><h1>One</h1><h1>Two</h1>", "Herons"),
            (
                "<title>struct Heron</title><h1>Struct Heron <button>Copy path</button><span hidden>Saved</span>¶</h1>",
                "Struct Heron",
            ),
        ] {
            assert_eq!(title_of(html).as_deref(), Some(title), "{html}");
        }
    }

    #[test]
    fn a_slogan_is_no_title() {
        let head = "<title>Heron Tours</title><meta property=og:title content='Heron Tours | Home'>";
        let page = format!("{head}<h1>See what wades</h1>");
        assert_eq!(title_of(&page).as_deref(), Some("Heron Tours"));
        let article = format!("{head}<meta property=og:type content=article><h1>See what wades</h1>");
        assert_eq!(title_of(&article).as_deref(), Some("See what wades"));
    }
}
