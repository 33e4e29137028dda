//! Links and images of a page as absolute URLs. Only reads the arena.

use indexmap::IndexSet;
use url::{Position, Url};

use super::dom::{Dom, NodeId, attr};
use super::tag::Tag;
use crate::hash::{HashMap, HashSet};
use crate::limits;

/// Returns the base for relative URLs: the first usable `base[href]`, else the URL of the page.
pub(crate) fn base_of(dom: &Dom, url: &Url) -> Url {
    dom.all(Tag::Base)
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

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Returns whether a host is `domain` or a subdomain of it.
pub(crate) fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns whether one of two hosts is the other one or a subdomain of it, whether or not they start with `www.`.
pub(crate) fn is_same_site(one: &str, other: &str) -> bool {
    let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_ascii_lowercase();
    let (one, other) = (bare(one), bare(other));
    is_within(&one, &other) || is_within(&other, &one)
}

/// The targets of a page's links. Each is resolved once, for all outputs.
#[derive(Debug)]
pub(crate) struct Targets {
    /// Distinct URLs, without fragments.
    urls: IndexSet<Url>,
    /// Elements that lead to a place other than the page itself, in document order.
    elements: Vec<Target>,
}

#[derive(Debug)]
struct Target {
    id: NodeId,
    /// Index in `urls`.
    url: u32,
    /// Whether it is in a `noscript` or `template`, which readers with scripts do not see.
    hidden: bool,
}

impl Targets {
    pub(crate) fn of(dom: &Dom, base: &Url) -> Targets {
        let (mut urls, mut elements) = (IndexSet::new(), Vec::new());
        let mut resolved = HashMap::default();
        let mut hidden = 0;
        for id in 0..dom.len() {
            if matches!(dom.tag(id), Tag::Noscript | Tag::Template) && id >= hidden {
                hidden = dom.end(id);
            }
            let Some(href) = target_of(dom, id).map(str::trim) else {
                continue;
            };
            if href.is_empty() || href.starts_with('#') || href.len() > limits::URL_BYTES {
                continue;
            }
            let mut add = |href: &str| {
                let mut url = base.join(href).ok()?;
                url.set_fragment(None);
                u32::try_from(urls.insert_full(url).0).ok()
            };
            let href = without_fragment(href);
            if let Some(url) = *resolved.entry(href).or_insert_with(|| add(href)) {
                let hidden = id < hidden;
                elements.push(Target { id, url, hidden });
            }
        }
        Targets { urls, elements }
    }

    fn url(&self, target: &Target) -> &Url {
        &self.urls[target.url as usize]
    }

    /// Returns the web pages that these elements lead to: unique, in document order.
    fn pages<'a>(&'a self, elements: impl Iterator<Item = &'a Target>) -> impl Iterator<Item = &'a Url> {
        let mut seen = vec![false; self.urls.len()];
        elements
            .filter(move |target| !std::mem::replace(&mut seen[target.url as usize], true))
            .map(|target| self.url(target))
            .filter(|url| is_web(url))
    }

    /// Returns `a[href]` of the whole page: http(s), absolute, unique, in document order, without fragments and
    /// without links to a place on the page.
    pub(crate) fn links(&self, dom: &Dom) -> Vec<String> {
        let shown = |target: &&Target| !target.hidden && dom.tag(target.id) == Tag::A;
        self.pages(self.elements.iter().filter(shown))
            .map(|url| url.as_str().to_owned())
            .collect()
    }

    /// Returns the links that a crawl may follow (docs/API.md section 5 rule 2).
    pub(crate) fn crawl_links(&self) -> Vec<Url> {
        self.pages(self.elements.iter()).cloned().collect()
    }

    /// Returns the URL of a link, with its fragment; `None` when it is invalid, too long, or runs a script.
    pub(crate) fn link(&self, base: &Url, id: NodeId, href: &str) -> Option<String> {
        let href = href.trim();
        let (path, fragment) = match href.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment)),
            None => (href, None),
        };
        if href.len() <= limits::URL_BYTES && fragment.is_none_or(is_plain_fragment) {
            let known = match (path.is_empty(), fragment) {
                (true, Some(_)) => Some(&base[..Position::AfterQuery]),
                (true, None) => None,
                (false, _) => {
                    let at = self.elements.binary_search_by_key(&id, |target| target.id);
                    let url = at.ok().map(|at| self.url(&self.elements[at]));
                    url.filter(|url| is_web(url)).map(Url::as_str)
                }
            };
            if let Some(url) = known {
                return Some(match fragment {
                    Some(fragment) => [url, "#", fragment].concat(),
                    None => url.to_owned(),
                });
            }
        }
        resolve(base, href)
            .filter(|url| !matches!(url.scheme(), "javascript" | "data" | "vbscript"))
            .map(String::from)
    }
}

/// Returns the target of an element that a crawl may follow.
fn target_of(dom: &Dom, id: NodeId) -> Option<&str> {
    match dom.tag(id) {
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
    }
}

/// Returns the part of a URL before its fragment, if that part stands for the URL without a fragment, else the whole
/// URL.
fn without_fragment(href: &str) -> &str {
    match href.split_once('#') {
        // White space is encoded before a fragment, and removed at the end of a URL.
        Some((path, _)) if path.bytes().next_back().is_some_and(|last| last > b' ') => path,
        _ => href,
    }
}

/// Returns true for a fragment that parsing the URL does not change.
fn is_plain_fragment(fragment: &str) -> bool {
    fragment
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'`'))
}

/// Returns `a[href]` as [`Targets::links`] does, but with fragments: URLs that differ only by fragment are distinct.
pub(crate) fn links_with_fragments(dom: &Dom, base: &Url, targets: &Targets) -> Vec<String> {
    let mut seen = HashSet::default();
    let shown = targets
        .elements
        .iter()
        .filter(|target| !target.hidden && dom.tag(target.id) == Tag::A);
    shown
        .filter_map(|target| resolve(base, dom.attr(target.id, attr::HREF)?))
        .filter(is_web)
        .map(String::from)
        .filter(|url| seen.insert(url.clone()))
        .collect()
}

/// Returns the URLs of the page's images: absolute, unique, in document order. For each image, the version that a
/// reader would see.
pub(crate) fn images(dom: &Dom, base: &Url) -> Vec<String> {
    let mut seen = HashSet::default();
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

/// Returns the image of the `source` elements next to an `img` in a `picture`.
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
            "blank.gif", "spacer.gif", "placeholder.gif", "1x1.gif", "pixel.gif", "transparent.gif",
            "/blank.png", "lazy.png",
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

    fn links(dom: &Dom, base: &Url) -> Vec<String> {
        Targets::of(dom, base).links(dom)
    }

    #[test]
    fn links_are_absolute_unique_and_without_fragment() {
        let (dom, base) = page(
            "<a href=b.html#x>1</a><a href='b.html'>2</a><a href='#top'>3</a><a href=mailto:a@b.c>4</a><a href=' /c d '>5</a>\
             <a href='//Other.test:80/../x'>6</a><a href='javascript:x()'>7</a><a>8</a><a href='http://%zz/'>9</a><a href=''>10</a>",
        );
        let links = links(&dom, &base);
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
    fn links_have_the_urls_that_the_parser_gives_them() {
        let hrefs = [
            "b.html", "b.html#x", "b.html #x", "b.html\t#x", "#x", "#", "#a b", "#\u{e9}", "#a\"b", "?y#z",
            "?y", "", " /c d#e ", "//o.test/../x#<", "mailto:a@b.c", "mailto:a #b", "javascript:x#y",
            "data:,x", "http://%zz/#a", "HTTP://O.test:80/%41#%41", "b\n.html#a\nb", "tel:1#2", "x#a#b",
            "\\x#`", "x#\u{7f}",
        ];
        let html: String = hrefs
            .iter()
            .map(|href| format!("<a href='{}'>x</a>", href.replace('&', "&amp;")))
            .collect();
        let (dom, base) = page(&html);
        let targets = Targets::of(&dom, &base);
        let anchors = (0..dom.len()).filter(|&id| dom.tag(id) == Tag::A);
        let mut without_fragments = Vec::new();
        for (id, href) in anchors.zip(hrefs) {
            let parsed = base.join(href.trim()).ok();
            let script = |url: &&Url| matches!(url.scheme(), "javascript" | "data" | "vbscript");
            let expected = parsed.as_ref().filter(|url| !script(url)).map(Url::as_str);
            assert_eq!(targets.link(&base, id, href).as_deref(), expected, "{href:?}");
            if let Some(mut url) = parsed.filter(is_web)
                && !href.trim().is_empty()
                && !href.trim().starts_with('#')
            {
                url.set_fragment(None);
                without_fragments.push(url.to_string());
            }
        }
        let mut seen = HashSet::default();
        without_fragments.retain(|url| seen.insert(url.clone()));
        assert_eq!(targets.links(&dom), without_fragments);
    }

    #[test]
    fn base_applies_to_every_url() {
        let (dom, base) = page("<base href='/v2/'><a href=x>1</a><img src=y.png>");
        assert_eq!(links(&dom, &base), ["https://site.test/v2/x"]);
        assert_eq!(images(&dom, &base), ["https://site.test/v2/y.png"]);
    }

    #[test]
    fn a_crawl_follows_areas_frames_and_html_relations() {
        let (dom, base) = page(
            "<link rel=next href=n><link rel=stylesheet href=s.css><link rel=alternate type='application/rss+xml' href=feed>\
             <link rel='alternate' hreflang=de href=de><link rel=canonical href=c><map><area href=area></map><iframe src=frame></iframe><a href=tel:1>t</a>",
        );
        let found: Vec<String> = Targets::of(&dom, &base)
            .crawl_links()
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
