//! Names and lists that mean something else where a text is written in sections than on a start page or in a shop:
//! boxes that authors put between their paragraphs, comments in source code, and the lists of all pages of a site
//! that stand beside each of them.

use url::Url;

use super::element_names::{LISTS_SITE, NO_HINT, NameHints};
use super::hints::{self, Hint};
use super::kind::PageKind;
use super::weights::TextWeights;
use super::words;
use crate::hash::HashMap;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;
use crate::markdown::code;

/// Share of linked text from which an element is a list of links, in percent.
const LIST_PERCENT: u64 = 80;
/// By how much that share falls where the list ends, in percent.
const OTHER_PERCENT: u64 = 5;
/// Share of linked text from which a box is not prose, in percent.
const BOX_PERCENT: u32 = 30;
/// Minimum links of a list of all pages.
const MIN_LINKS: usize = 8;
/// Minimum bytes of unlinked text of a page outside such a list.
const MIN_OTHER_BYTES: u32 = 60;
/// Maximum links to the page itself that are looked at.
const MAX_OWN_LINKS: usize = 16;
/// Maximum ancestors that are looked at.
const MAX_LEVELS: usize = 24;

/// Corrects the hints of the names on a page of this kind.
pub(super) fn correct(dom: &Dom, url: &Url, kind: PageKind, weights: &TextWeights, names: &mut [NameHints]) {
    keep_boxes(dom, weights, names);
    if kind == PageKind::Documentation {
        keep_source_comments(dom, names);
    }
    mark_site_lists(dom, url, weights, names);
}

/// Removes the hint of sidebars with prose that stand after a paragraph, or in a section with one: DocBook and Asciidoc
/// name boxes in the text so.
fn keep_boxes(dom: &Dom, weights: &TextWeights, names: &mut [NameHints]) {
    let is_prose = |id: NodeId| weights.prose[id as usize] > 0 && weights.linked_percent(id) < BOX_PERCENT;
    // By parent: its first child that is a paragraph.
    let mut paragraphs: HashMap<NodeId, Option<NodeId>> = HashMap::default();
    for id in 1..dom.len() {
        if names[id as usize].hint != Hint::Boilerplate || dom.tag(id) != Tag::Div || !is_prose(id) {
            continue;
        }
        if !hints::is_only_sidebar(&hints::words(dom, id)) {
            continue;
        }
        let parent = dom.parent(id);
        let first = *paragraphs.entry(parent).or_insert_with(|| {
            let is_paragraph = |&child: &NodeId| {
                matches!(dom.tag(child), Tag::P | Tag::Div)
                    && names[child as usize].hint == Hint::None
                    && weights.is_paragraph(child)
            };
            dom.children(parent).find(is_paragraph)
        });
        let is_section = |class: &str| class == "section" || hints::is_section(class);
        if first.is_some_and(|first| first < id || dom.classes(parent).any(is_section)) {
            names[id as usize] = NO_HINT;
        }
    }
}

/// Removes the hint of comments that are not in a list of comments: those of the source code, from which the page was
/// made, and sections about comments.
fn keep_source_comments(dom: &Dom, names: &mut [NameHints]) {
    let mut list_end = 0;
    for id in 1..dom.len() {
        if id < list_end || names[id as usize].hint != Hint::Comments {
            continue;
        }
        let words = hints::words(dom, id);
        let is_one = words.iter().any(|word| word == "comment") && !hints::is_comment_list(&words);
        if is_one || is_section_about_comments(dom, names, id) {
            names[id as usize] = NO_HINT;
        } else {
            list_end = dom.end(id);
        }
    }
}

/// Returns true for a section that only its `id` names comments, without elements for them.
fn is_section_about_comments(dom: &Dom, names: &[NameHints], id: NodeId) -> bool {
    let is_section = dom.tag(id) == Tag::Section || dom.has_class(id, "section");
    let is_for_comments = |below: NodeId| {
        names[below as usize].hint == Hint::Comments || matches!(dom.tag(below), Tag::Form | Tag::Textarea)
    };
    let lists = hints::lists_of(dom.attr(id, attr::CLASS).unwrap_or_default());
    is_section && lists & words::IN_COMMENTS == 0 && !dom.below(id).any(is_for_comments)
}

/// Marks the lists of all pages that lead to this page, too. The heading of the page is not in such a list.
fn mark_site_lists(dom: &Dom, url: &Url, weights: &TextWeights, names: &mut [NameHints]) {
    let body = dom.first(0, Tag::Body).unwrap_or(0);
    let unlinked = |id: NodeId| weights.text[id as usize].saturating_sub(weights.linked[id as usize]);
    let headings: Vec<NodeId> = match dom.all(Tag::H1).next() {
        Some(_) => dom.all(Tag::H1).collect(),
        None => dom.below(body).filter(|&id| dom.tag(id) == Tag::H2).collect(),
    };
    let has_heading = |id: NodeId| {
        let next = headings.partition_point(|&heading| heading < id);
        headings.get(next).is_some_and(|&heading| heading < dom.end(id))
    };
    let part_titles = PartTitles::of(dom, weights, body);
    let linked_percent = |id: NodeId| {
        let text = weights.text[id as usize].saturating_sub(part_titles.text(id, dom.end(id)));
        u64::from(weights.linked[id as usize]) * 100 / u64::from(text).max(1)
    };
    let is_own = |&id: &NodeId| dom.tag(id) == Tag::A && leads_to_itself(dom, url, id);
    let is_long = |id: NodeId| {
        let links = dom.below(id).filter(|&id| dom.tag(id) == Tag::A);
        links.take(MIN_LINKS).count() == MIN_LINKS
    };
    for link in dom.below(body).filter(is_own).take(MAX_OWN_LINKS) {
        let is_list = |&id: &NodeId| {
            id > body && linked_percent(id) >= LIST_PERCENT && !has_heading(id) && !code::is_block(dom, id)
        };
        let mut list = link;
        for around in dom.ancestors(link).take(MAX_LEVELS).take_while(is_list) {
            // A long list of nothing but links ends where other text begins.
            let is_other = linked_percent(around) + OTHER_PERCENT < linked_percent(list);
            if is_other && is_long(list) {
                break;
            }
            list = around;
        }
        if is_long(list) && unlinked(body) - unlinked(list) >= MIN_OTHER_BYTES {
            names[list as usize].hint = Hint::Boilerplate;
            names[list as usize].words |= LISTS_SITE;
        }
    }
}

/// The headings without links, which divide a list of links into parts.
struct PartTitles {
    /// By heading: its node, and the bytes of text in the headings before it.
    headings: Vec<(NodeId, u32)>,
    /// The same of all headings.
    total: u32,
}

impl PartTitles {
    fn of(dom: &Dom, weights: &TextWeights, body: NodeId) -> Self {
        let (mut headings, mut total) = (Vec::new(), 0);
        let is_title =
            |&id: &NodeId| dom.tag(id).heading_level().is_some() && weights.linked[id as usize] == 0;
        for id in dom.below(body).filter(is_title) {
            headings.push((id, total));
            total += weights.text[id as usize];
        }
        Self { headings, total }
    }

    /// Returns the bytes of text in the headings from `start` to `end`.
    fn text(&self, start: NodeId, end: NodeId) -> u32 {
        let before = |id: NodeId| {
            let next = self.headings.partition_point(|&(heading, _)| heading < id);
            self.headings.get(next).map_or(self.total, |&(_, sum)| sum)
        };
        before(end) - before(start)
    }
}

/// Returns true for a link to the page itself, not to a part of it.
pub(super) fn leads_to_itself(dom: &Dom, url: &Url, link: NodeId) -> bool {
    if dom.attr(link, attr::ARIA_CURRENT) == Some("page") {
        return true;
    }
    let Some(href) = dom.attr(link, attr::HREF).map(str::trim) else {
        return false;
    };
    let path = url.path();
    let file = path.rsplit('/').next().unwrap_or_default();
    match href {
        "" => true,
        "#" => dom.has_class(link, "current"),
        _ if !href.ends_with(if file.is_empty() { "/" } else { file }) => false,
        _ => url.join(href).is_ok_and(|target| {
            target.path() == path && target.query() == url.query() && target.host() == url.host()
        }),
    }
}
