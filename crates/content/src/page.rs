//! A parsed page and what is asked of it.

use url::Url;

use crate::facts::{self, Facts};
use crate::html::dom::{Dom, NodeId};
use crate::html::metadata::PageMetadata;
use crate::html::select::{Selector, SelectorError};
use crate::html::tag::Tag;
use crate::html::{links, metadata, parse, redirect};
use crate::signs::{self, Signs};
use crate::{clean_html, limits, main_content, markdown};

/// A page: one parse, one arena. Bounded in time and memory on any input.
#[derive(Debug)]
pub struct Page {
    dom: Dom,
    base: Url,
    url: Url,
}

/// Which part of a page becomes content.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Leave out navigation, headers, footers, related links and the like.
    pub only_main_content: bool,
    /// Only what matches is kept, in document order; takes precedence over `only_main_content`. Empty: no such choice.
    pub include_tags: Vec<Selector>,
    /// What matches is left out, after `include_tags`.
    pub exclude_tags: Vec<Selector>,
    /// Replace `data:` pictures in the Markdown by a placeholder; pictures without alternative text vanish.
    pub remove_base64_images: bool,
}

/// The chosen part of a page.
#[derive(Debug)]
pub struct Content<'a> {
    page: &'a Page,
    roots: Vec<NodeId>,
    dropped: Vec<bool>,
    remove_base64_images: bool,
}

impl Page {
    /// Parses a page that was loaded from `url` (after redirects).
    pub fn parse(html: &str, url: &Url) -> Page {
        let dom = parse::parse(html);
        let base = links::base_of(&dom, url);
        Page {
            dom,
            base,
            url: url.clone(),
        }
    }

    /// True when a bound was reached and something was left out.
    pub fn truncated(&self) -> bool {
        self.dom.truncated
    }

    /// The base for relative addresses: `base[href]`, else the page's address.
    pub fn base_url(&self) -> &Url {
        &self.base
    }

    /// Every `a[href]` that is http(s): absolute, fragment removed, unique, document order.
    pub fn links(&self) -> Vec<String> {
        links::links(&self.dom, &self.base, false)
    }

    /// As [`Page::links`], with fragments kept: addresses that differ only by their fragment are two.
    pub fn links_with_fragments(&self) -> Vec<String> {
        links::links(&self.dom, &self.base, true)
    }

    /// Where a crawl may go on from here: `a`, `area`, `iframe` and `link` next, prev, canonical and alternate.
    pub fn crawl_links(&self) -> Vec<Url> {
        links::crawl_links(&self.dom, &self.base)
    }

    /// Addresses of the page's pictures: absolute, unique, document order.
    pub fn images(&self) -> Vec<String> {
        links::images(&self.dom, &self.base)
    }

    /// What the page says about itself.
    pub fn metadata(&self) -> PageMetadata {
        metadata::metadata(&self.dom, &self.base)
    }

    /// The data that the page states.
    pub fn facts(&self) -> Facts {
        facts::facts(&self.dom, &self.base)
    }

    /// The values of an attribute on all elements that match, document order; elements without it are passed over.
    pub fn attributes(&self, selector: &str, attribute: &str) -> Result<Vec<String>, SelectorError> {
        let selector = Selector::parse(selector)?;
        let attribute = attribute.to_ascii_lowercase();
        Ok((0..self.dom.len())
            .filter(|&id| selector.matches(&self.dom, id))
            .filter_map(|id| self.dom.attr_named(id, &attribute).map(str::to_owned))
            .collect())
    }

    /// Chooses the content once; Markdown and HTML are then written from the same choice.
    pub fn convert(&self, selection: &Selection) -> Content<'_> {
        let mut dropped = vec![false; self.dom.nodes.len()];
        let whole = self
            .dom
            .children(0)
            .find(|&id| self.dom.tag(id) == Tag::Html)
            .unwrap_or(0);
        let roots = if !selection.include_tags.is_empty() {
            self.included(&selection.include_tags)
        } else if selection.only_main_content {
            main_content::choose(&self.dom, &self.url, &mut dropped)
        } else {
            vec![whole]
        };
        for id in 0..self.dom.len() {
            if selection
                .exclude_tags
                .iter()
                .any(|selector| selector.matches(&self.dom, id))
            {
                dropped[id as usize] = true;
            }
        }
        Content {
            page: self,
            roots,
            dropped,
            remove_base64_images: selection.remove_base64_images,
        }
    }

    /// Text and measures of every block with text of its own, in document order: what the choice of content is trained on.
    #[doc(hidden)]
    pub fn samples(&self) -> Vec<(String, Vec<i32>)> {
        main_content::samples(&self.dom, &self.url)
    }

    /// The outermost elements that match.
    fn included(&self, selectors: &[Selector]) -> Vec<NodeId> {
        let mut roots = Vec::new();
        let mut at = 0;
        while at < self.dom.len() {
            if selectors.iter().any(|selector| selector.matches(&self.dom, at)) {
                roots.push(at);
                at = self.dom.end(at);
            } else {
                at += 1;
            }
        }
        roots
    }

    /// What the page shows without its scripts, and what says that they would show more.
    pub fn signs(&self) -> Signs {
        signs::signs(&self.dom, &self.base, &self.url)
    }

    /// Where the page sends its reader at once: an immediate `meta` refresh, or a page that is nothing but a script that
    /// goes elsewhere. Never an address of its own.
    pub fn redirect(&self) -> Option<Url> {
        redirect::redirect(&self.dom, &self.base, &self.url)
    }
}

impl Content<'_> {
    /// The content as Markdown (CommonMark with GFM tables), empty when there is none.
    pub fn markdown(&self) -> String {
        markdown::write(&markdown::Request {
            dom: &self.page.dom,
            base: &self.page.base,
            roots: &self.roots,
            dropped: &self.dropped,
            remove_base64_images: self.remove_base64_images,
        })
    }

    /// The content as cleaned HTML: no scripts, styles or event handlers, addresses absolute, pictures the largest of their set.
    pub fn html(&self) -> String {
        let max = self
            .page
            .dom
            .input_bytes
            .saturating_mul(limits::OUTPUT_FACTOR)
            .saturating_add(limits::SLACK_BYTES);
        clean_html::write(&self.page.dom, &self.page.base, &self.roots, &self.dropped, max)
    }
}
