//! [`HtmlPage`], a parsed page, and [`Content`], the selected part of one: the entry points of this crate.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use url::Url;

use crate::facts::{self, Facts};
use crate::html::dom::{Dom, NodeId};
use crate::html::links::Targets;
use crate::html::metadata::PageMetadata;
use crate::html::select::{Matcher, Selector, SelectorError};
use crate::html::tag::Tag;
use crate::html::{links, metadata, outline, parse, redirect};
use crate::render_signals::{self, RenderSignals};
use crate::{clean_html, consent, limits, main_content, markdown};

/// A parsed page. Parsing is bounded in time and memory on any input.
#[derive(Debug)]
pub struct HtmlPage {
    dom: Dom,
    base: Url,
    url: Url,
    targets: OnceLock<Targets>,
    /// Steps left to match selectors.
    selector_steps: AtomicU64,
}

/// Selects the part of a page that becomes content.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Leave out navigation, headers, footers, related links and similar parts.
    pub only_main_content: bool,
    /// Keep only elements that match, in document order; takes precedence over `only_main_content`. Empty: no
    /// restriction.
    pub include_tags: Vec<Selector>,
    /// Remove elements that match, after `include_tags` was applied.
    pub exclude_tags: Vec<Selector>,
    /// Replace `data:` images in the Markdown with a placeholder; images without alternative text are removed.
    pub remove_base64_images: bool,
    /// Remove the banners and dialogs of known consent tools.
    pub remove_consent: bool,
}

/// The selected part of a page.
#[derive(Debug)]
pub struct Content<'a> {
    page: &'a HtmlPage,
    roots: Vec<NodeId>,
    dropped: Vec<bool>,
    remove_base64_images: bool,
    removed_consent: bool,
}

impl HtmlPage {
    /// Parses a page that was loaded from `url` (the URL after redirects).
    pub fn parse(html: &str, url: &Url) -> HtmlPage {
        let dom = parse::parse(html);
        let base = links::base_of(&dom, url);
        HtmlPage {
            dom,
            base,
            url: url.clone(),
            targets: OnceLock::new(),
            selector_steps: limits::SELECTOR_STEPS.into(),
        }
    }

    /// Returns true when a limit was reached and something was left out.
    pub fn truncated(&self) -> bool {
        self.dom.truncated
    }

    /// Returns true when matching selectors took too much work and was abandoned: later elements did not match.
    pub fn selectors_given_up(&self) -> bool {
        self.selector_steps.load(Ordering::Relaxed) == 0
    }

    /// Returns the base for relative URLs: `base[href]`, else the URL of the page.
    pub fn base_url(&self) -> &Url {
        &self.base
    }

    /// Returns every `a[href]` with an http(s) URL: absolute, without fragment, unique, in document order.
    pub fn links(&self) -> Vec<String> {
        self.targets().links(&self.dom)
    }

    /// Returns the links as [`HtmlPage::links`] does, but with fragments: URLs that differ only by fragment are
    /// distinct.
    pub fn links_with_fragments(&self) -> Vec<String> {
        links::links_with_fragments(&self.dom, &self.base, self.targets())
    }

    /// Returns the links that a crawl may follow: `a`, `area`, `iframe`, and `link` with rel next, prev,
    /// canonical or alternate.
    pub fn crawl_links(&self) -> Vec<Url> {
        self.targets().crawl_links()
    }

    /// Returns the URLs of the page's images: absolute, unique, in document order.
    pub fn images(&self) -> Vec<String> {
        links::images(&self.dom, &self.base)
    }

    /// Returns the metadata of the page: title, description, `meta` values.
    pub fn metadata(&self) -> PageMetadata {
        metadata::metadata(&self.dom, &self.base)
    }

    /// Returns the data that the page states: JSON-LD, microdata, tables, labelled values.
    pub fn facts(&self) -> Facts {
        facts::facts(&self.dom, &self.base)
    }

    /// Returns the values of an attribute on all matching elements, in document order; elements without it
    /// are skipped.
    ///
    /// # Errors
    ///
    /// Fails when the selector cannot be parsed.
    pub fn attributes(&self, selector: &str, attribute: &str) -> Result<Vec<String>, SelectorError> {
        let selector = Selector::parse(selector)?;
        let attribute = attribute.to_ascii_lowercase();
        Ok(self.with_matcher(|matcher| {
            (0..self.dom.len())
                .filter(|&id| matcher.matches(&selector, id))
                .filter_map(|id| self.dom.attr_named(id, &attribute).map(str::to_owned))
                .collect()
        }))
    }

    /// Selects the content. Markdown and HTML are then both written from this selection.
    pub fn convert(&self, selection: &Selection) -> Content<'_> {
        let mut dropped = vec![false; self.dom.nodes.len()];
        let whole = self
            .dom
            .children(0)
            .find(|&id| self.dom.tag(id) == Tag::Html)
            .unwrap_or(0);
        let roots = if !selection.include_tags.is_empty() {
            self.matching_roots(&selection.include_tags)
        } else if selection.only_main_content {
            main_content::choose(&self.dom, &self.url, &mut dropped)
        } else {
            vec![whole]
        };
        let removed_consent = selection.remove_consent && consent::mark(&self.dom, &mut dropped);
        if !selection.exclude_tags.is_empty() {
            self.with_matcher(|matcher| {
                for id in 0..self.dom.len() {
                    dropped[id as usize] |= selection.exclude_tags.iter().any(|it| matcher.matches(it, id));
                }
            });
        }
        Content {
            page: self,
            roots,
            dropped,
            remove_base64_images: selection.remove_base64_images,
            removed_consent,
        }
    }

    /// Returns the tree of the page as lines with their depth. Used to compare parsers.
    #[doc(hidden)]
    pub fn outline(&self) -> Vec<(usize, String)> {
        outline::outline(&self.dom)
    }

    /// Uses the trees in `file` instead of those of the project, to measure the main-content model on pages that
    /// it was not trained on. Returns false when a page was converted before.
    #[doc(hidden)]
    pub fn replace_trees(file: &[u8]) -> bool {
        main_content::replace_trees(file)
    }

    /// Returns text and features of every block with text of its own, in document order. Used to train the
    /// main-content model.
    #[doc(hidden)]
    pub fn samples(&self) -> Vec<(String, Vec<i32>)> {
        main_content::samples(&self.dom, &self.url)
    }

    /// Returns the outermost elements that match.
    fn matching_roots(&self, selectors: &[Selector]) -> Vec<NodeId> {
        let mut roots = Vec::new();
        let mut at = 0;
        self.with_matcher(|matcher| {
            while at < self.dom.len() {
                if selectors.iter().any(|selector| matcher.matches(selector, at)) {
                    roots.push(at);
                    at = self.dom.end(at);
                } else {
                    at += 1;
                }
            }
        });
        roots
    }

    fn targets(&self) -> &Targets {
        self.targets.get_or_init(|| Targets::of(&self.dom, &self.base))
    }

    /// Runs `work` with a matcher that may take the steps that are left for the page.
    fn with_matcher<T>(&self, work: impl FnOnce(&mut Matcher<'_>) -> T) -> T {
        let mut matcher = Matcher::new(&self.dom, self.selector_steps.load(Ordering::Relaxed));
        let result = work(&mut matcher);
        self.selector_steps.store(matcher.steps_left(), Ordering::Relaxed);
        result
    }

    /// Measures what the page shows without its scripts, and the signs that its scripts would show more. Stops when the
    /// weight of the main text reaches `enough`.
    pub fn render_signals(&self, enough: usize) -> RenderSignals {
        render_signals::render_signals(&self.dom, &self.base, &self.url, enough)
    }

    /// Returns the target of a redirect in the page: an immediate `meta` refresh, or a page that consists of
    /// one script that sets the location. Never returns the URL of the page itself.
    pub fn redirect(&self) -> Option<Url> {
        redirect::redirect(&self.dom, &self.base, &self.url)
    }
}

impl Content<'_> {
    /// Returns whether a consent banner with text or a frame was removed.
    pub fn removed_consent(&self) -> bool {
        self.removed_consent
    }

    /// Returns the content as Markdown (CommonMark with GFM tables); empty when there is none.
    pub fn markdown(&self) -> String {
        markdown::write(&markdown::Request {
            dom: &self.page.dom,
            base: &self.page.base,
            targets: self.page.targets(),
            roots: &self.roots,
            dropped: &self.dropped,
            remove_base64_images: self.remove_base64_images,
        })
    }

    /// Returns the content as cleaned HTML: without scripts, styles and event handlers, with absolute URLs,
    /// and with the largest image of each `srcset`.
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
