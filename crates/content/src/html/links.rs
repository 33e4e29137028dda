//! Links and images of a page as absolute URLs. Only reads the arena.

use std::collections::HashSet;

use url::Url;

use super::dom::{Dom, NodeId, attr};
use super::tag::Tag;
use crate::limits;

/// Returns the base for relative URLs: the first usable `base[href]`, else the URL of the page.
pub(crate) fn base_of(dom: &Dom, url: &Url) -> Url {
    (0..dom.len())
        .filter(|&id| dom.tag(id) == Tag::Base)
        .find_map(|id| dom.attr(id, attr::HREF))
        .and_then(|href| url.join(href.trim()).ok())
        .filter(|base| !base.cannot_be_a_base())
        .unwrap_or_else(|| url.clone())
}

/// Resolves a URL of the page; `None` when it is invalid or too long.
pub(crate) fn resolve(base: &Url, href: &str) -> Option<Url> {
    let href = href.trim();
    if href.len() > limits::URL_BYTES {
        return None;
    }
    base.join(href).ok()
}

/// Returns false for links to a place on the same page.
fn leaves_page(href: &str) -> bool {
    let href = href.trim();
    !href.is_empty() && !href.starts_with('#')
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Returns `a[href]` of the whole page: http(s), absolute, unique, in document order, without fragment-only
/// links. Unless `keep_fragments` is set, fragments are removed before duplicates are.
pub(crate) fn links(dom: &Dom, base: &Url, keep_fragments: bool) -> Vec<String> {
    // Readers with scripts do not see `noscript` and `template`.
    let mut hidden = 0;
    let hrefs = (0..dom.len()).filter_map(|id| {
        if matches!(dom.tag(id), Tag::Noscript | Tag::Template) && id >= hidden {
            hidden = dom.end(id);
        }
        (dom.tag(id) == Tag::A && id >= hidden)
            .then(|| dom.attr(id, attr::HREF))
            .flatten()
    });
    unique(
        hrefs
            .filter(|href| leaves_page(href))
            .filter_map(|href| resolve(base, href))
            .filter(is_web),
        keep_fragments,
    )
    .into_iter()
    .map(String::from)
    .collect()
}

/// Returns the links that a crawl may follow (docs/API.md section 5 rule 2).
pub(crate) fn crawl_links(dom: &Dom, base: &Url) -> Vec<Url> {
    let target = |id: NodeId| match dom.tag(id) {
        Tag::A | Tag::Area => dom.attr(id, attr::HREF),
        Tag::Iframe => dom.attr(id, attr::SRC),
        Tag::Link => {
            let rel = dom.attr(id, attr::REL)?;
            let known = |word: &str| {
                ["next", "prev", "canonical", "alternate"]
                    .iter()
                    .any(|r| word.eq_ignore_ascii_case(r))
            };
            let words: Vec<&str> = rel.split_ascii_whitespace().collect();
            let is_html = dom.attr(id, attr::TYPE).is_none_or(|kind| {
                let kind = kind.split(';').next().unwrap_or("").trim();
                kind.is_empty()
                    || kind.eq_ignore_ascii_case("text/html")
                    || kind.eq_ignore_ascii_case("application/xhtml+xml")
            });
            let is_style = words.iter().any(|word| word.eq_ignore_ascii_case("stylesheet"));
            (is_html && !is_style && words.iter().any(|word| known(word)))
                .then(|| dom.attr(id, attr::HREF))
                .flatten()
        }
        _ => None,
    };
    let hrefs = (0..dom.len()).filter_map(target);
    unique(
        hrefs
            .filter(|href| leaves_page(href))
            .filter_map(|href| resolve(base, href))
            .filter(is_web),
        false,
    )
}

fn unique(urls: impl Iterator<Item = Url>, keep_fragments: bool) -> Vec<Url> {
    let mut seen = HashSet::new();
    urls.map(|mut url| {
        if !keep_fragments {
            url.set_fragment(None);
        }
        url
    })
    .filter(|url| seen.insert(url.as_str().to_owned()))
    .collect()
}

/// Returns the URLs of the page's images: absolute, unique, in document order. Of each image, the one that a
/// reader would see.
pub(crate) fn images(dom: &Dom, base: &Url) -> Vec<String> {
    let mut seen = HashSet::new();
    (0..dom.len())
        .filter(|&id| dom.tag(id) == Tag::Img)
        .filter_map(|id| image_source(dom, id))
        .filter_map(|src| resolve(base, src))
        .filter(is_web)
        .map(String::from)
        .filter(|url| seen.insert(url.clone()))
        .collect()
}

/// Returns the URL of the image that an `img` shows: `src`, or what lazy loading sets later. May be a `data:`
/// URL.
pub(crate) fn image_source(dom: &Dom, id: NodeId) -> Option<&str> {
    let plain = dom
        .attr(id, attr::SRC)
        .map(str::trim)
        .filter(|src| !src.is_empty());
    let lazy = [
        attr::DATA_SRC,
        attr::DATA_LAZY_SRC,
        attr::DATA_ORIGINAL,
        attr::DATA_ORIGINAL_SRC,
        attr::DATA_LAZY,
    ]
    .into_iter()
    .filter_map(|name| dom.attr(id, name))
    .map(str::trim)
    .find(|src| is_address(src));
    if let Some(src) = plain
        && !is_placeholder(src)
        && lazy.is_none()
    {
        return Some(src);
    }
    if lazy.is_some() {
        return lazy;
    }
    let from_set = [attr::DATA_SRCSET, attr::DATA_LAZY_SRCSET, attr::SRCSET]
        .into_iter()
        .filter_map(|name| dom.attr(id, name))
        .find_map(largest_of_set);
    from_set.or_else(|| source_element_image(dom, id)).or(plain)
}

/// Returns the largest image of an `img`, for the cleaned HTML.
pub(crate) fn largest_image(dom: &Dom, id: NodeId) -> Option<&str> {
    [attr::DATA_SRCSET, attr::DATA_LAZY_SRCSET, attr::SRCSET]
        .into_iter()
        .filter_map(|name| dom.attr(id, name))
        .find_map(largest_of_set)
        .or_else(|| image_source(dom, id))
}

/// Returns the image of the `source` elements beside an `img` in a `picture`.
fn source_element_image(dom: &Dom, id: NodeId) -> Option<&str> {
    let parent = dom.parent(id);
    if dom.tag(parent) != Tag::Picture {
        return None;
    }
    dom.children(parent)
        .filter(|&child| dom.tag(child) == Tag::Source)
        .find_map(|child| {
            [attr::SRCSET, attr::DATA_SRCSET]
                .into_iter()
                .filter_map(|name| dom.attr(child, name))
                .find_map(largest_of_set)
        })
}

fn is_address(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['{', '[', '<'])
        && !text.contains(char::is_whitespace)
        && !is_placeholder(text)
}

/// Returns true for an image that lazy loading replaces later.
pub(crate) fn is_placeholder(src: &str) -> bool {
    let lower = src.get(..src.len().min(200)).unwrap_or(src).to_ascii_lowercase();
    lower.starts_with("data:")
        || lower.starts_with("about:")
        || lower.starts_with("blob:")
        || [
            "blank.gif",
            "spacer.gif",
            "placeholder.gif",
            "1x1.gif",
            "pixel.gif",
            "transparent.gif",
            "/blank.png",
            "lazy.png",
        ]
        .iter()
        .any(|name| lower.ends_with(name))
}

/// Returns the URL with the largest width or density of a `srcset`.
pub(crate) fn largest_of_set(set: &str) -> Option<&str> {
    let mut best: Option<(&str, f64)> = None;
    let mut rest = set;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            break;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (mut url, mut after) = rest.split_at(end);
        let mut descriptor = "";
        if url.ends_with(',') {
            url = url.trim_end_matches(',');
        } else {
            let end = after.find(',').unwrap_or(after.len());
            (descriptor, after) = after.split_at(end);
        }
        rest = after;
        let size = descriptor
            .split_ascii_whitespace()
            .find_map(|word| {
                word.strip_suffix(['w', 'x'])
                    .and_then(|number| number.parse::<f64>().ok())
            })
            .unwrap_or(1.0);
        if !url.starts_with("data:") && best.is_none_or(|(_, most)| size > most) {
            best = Some((url, size));
        }
    }
    best.map(|(url, _)| url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    fn page(html: &str) -> (Dom, Url) {
        let dom = parse(html);
        let base = base_of(&dom, &Url::parse("https://site.test/docs/a.html?q=1").unwrap());
        (dom, base)
    }

    #[test]
    fn links_are_absolute_unique_and_without_fragment() {
        let (dom, base) = page(
            "<a href=b.html#x>1</a><a href='b.html'>2</a><a href='#top'>3</a><a href=mailto:a@b.c>4</a><a href=' /c d '>5</a>\
             <a href='//Other.test:80/../x'>6</a><a href='javascript:x()'>7</a><a>8</a><a href='http://%zz/'>9</a><a href=''>10</a>",
        );
        let links = links(&dom, &base, false);
        assert_eq!(
            links,
            [
                "https://site.test/docs/b.html",
                "https://site.test/c%20d",
                "https://other.test:80/x"
            ]
        );
    }

    #[test]
    fn base_applies_to_every_url() {
        let (dom, base) = page("<base href='/v2/'><a href=x>1</a><img src=y.png>");
        assert_eq!(links(&dom, &base, false), ["https://site.test/v2/x"]);
        assert_eq!(images(&dom, &base), ["https://site.test/v2/y.png"]);
    }

    #[test]
    fn a_crawl_follows_areas_frames_and_html_relations() {
        let (dom, base) = page(
            "<link rel=next href=n><link rel=stylesheet href=s.css><link rel=alternate type='application/rss+xml' href=feed>\
             <link rel='alternate' hreflang=de href=de><link rel=canonical href=c><map><area href=area></map><iframe src=frame></iframe><a href=tel:1>t</a>",
        );
        let found: Vec<String> = crawl_links(&dom, &base)
            .iter()
            .map(|url| url.path().to_owned())
            .collect();
        assert_eq!(
            found,
            ["/docs/n", "/docs/de", "/docs/c", "/docs/area", "/docs/frame"]
        );
    }

    #[test]
    fn lazy_images_are_found() {
        let (dom, base) = page(
            "<img src='data:image/gif;base64,R0' data-src=real.jpg><img src=spacer.gif data-srcset='s.jpg 1x, l.jpg 2x'>\
             <picture><source srcset='p-400.webp 400w, p-800.webp 800w'><img src='data:x'></picture><img src=plain.png srcset='big.png 900w'>",
        );
        let found: Vec<String> = images(&dom, &base)
            .iter()
            .map(|url| url.rsplit('/').next().unwrap().to_owned())
            .collect();
        assert_eq!(found, ["real.jpg", "l.jpg", "p-800.webp", "plain.png"]);
        assert_eq!(largest_of_set("a,b.jpg 100w, c,d.jpg 300w"), Some("c,d.jpg"));
    }
}
