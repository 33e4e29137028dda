//! Pages that list posts, such as start pages of blogs. The model often chooses one of the posts, or leaves out their
//! headings, as those of teasers.

use std::ops::Range;

use url::Url;

use super::block::Block;
use super::decisions::Decisions;
use super::kind::PageKind;
use super::link_target::{self, LinkTarget};
use super::technical;
use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Minimum posts of a list.
const MIN_POSTS: usize = 3;
/// Share of the linked text of a heading that leads to a post, in percent.
const MIN_LINKED: u32 = 80;
/// Minimum share of the posts in the prose and headings of the page, in percent.
const MIN_SHARE: u64 = 60;
/// More than there are tags.
const TAGS: u32 = u8::MAX as u32 + 1;
/// Maximum ancestors of a heading that are searched for its link and its post.
const MAX_LEVELS: usize = 12;

/// Keeps the paragraphs and the headings of all posts, on a page whose prose mostly stands in posts: elements next to each
/// other, each with a heading that leads to another page of the site. On an article, which may have teasers of others
/// below it, only the headings of posts with kept text.
pub(super) fn restore(page: &mut Decisions, url: &Url) {
    let (dom, kind, weights, blocks) = (page.dom, page.kind, page.weights, page.blocks);
    let paragraphs = || blocks.iter().filter(|block| weights.is_paragraph(block.id));
    // Where all paragraphs are in an element with such a name, it says nothing.
    let names_matter = paragraphs().any(|block| !block.is_named_beside());
    let is_prose =
        |block: &&Block| weights.is_paragraph(block.id) && !(names_matter && block.is_named_beside());
    let prose = blocks
        .iter()
        .filter(is_prose)
        .map(|block| u64::from(weights.own_text(block.id)));
    let posts = posts(dom, url, weights, prose.sum());
    let post_around = |block: &Block| {
        let next = posts.partition_point(|&(post, _)| post <= block.id);
        next.checked_sub(1).filter(|&at| block.id < dom.end(posts[at].0))
    };
    let mut has_text = vec![false; posts.len()];
    for (at, block) in blocks.iter().enumerate() {
        if let Some(post) = post_around(block) {
            if is_prose(&block) {
                page.keep(at);
            }
            has_text[post] |= page.is_kept(at);
        }
    }
    let is_heading =
        |block: &Block, post: usize| posts[post].1 == block.id && (has_text[post] || kind == PageKind::Other);
    for (at, block) in blocks.iter().enumerate() {
        if post_around(block).is_some_and(|post| is_heading(block, post)) {
            page.keep(at);
        }
    }
}

/// Returns the posts of a page that lists posts, each with its heading, in document order. `prose` is that of the page, in
/// bytes.
fn posts(dom: &Dom, url: &Url, weights: &TextWeights, prose: u64) -> Vec<(NodeId, NodeId)> {
    let body = dom.first(0, Tag::Body).unwrap_or(0);
    let link_of = |heading: NodeId| {
        let mut links = dom.below(heading).chain(dom.ancestors(heading).take(MAX_LEVELS));
        links.find(|&id| dom.tag(id) == Tag::A && dom.attr(id, attr::HREF).is_some())
    };
    let leads_to_site = |link: NodeId| {
        let href = dom.attr(link, attr::HREF).unwrap_or_default();
        link_target::of(href, url.host_str().unwrap_or_default()) == LinkTarget::Site
    };
    let is_post_heading = |&id: &NodeId| {
        dom.tag(id).heading_level().is_some()
            && weights.linked_percent(id) >= MIN_LINKED
            && link_of(id).is_some_and(leads_to_site)
    };
    // A page whose own heading is among them is one of the posts.
    let is_own =
        |&heading: &NodeId| link_of(heading).is_some_and(|link| technical::leads_to_itself(dom, url, link));
    // Each with a number for its level and depth.
    let mut headings: Vec<(u32, NodeId)> = dom
        .below(body)
        .filter(is_post_heading)
        .map(|id| (dom.ancestors(id).count() as u32 * TAGS + dom.tag(id) as u32, id))
        .collect();
    headings.sort_unstable();
    // Posts with their headings, and their positions by the element around them.
    let (mut posts, mut lists) = (Vec::new(), Vec::new());
    for alike in headings.chunk_by(|a, b| a.0 == b.0) {
        let headings: Vec<NodeId> = alike.iter().map(|&(_, heading)| heading).collect();
        if headings.len() < MIN_POSTS || headings.iter().any(is_own) {
            continue;
        }
        for &heading in &headings {
            let post = post_of(dom, body, &headings, heading);
            lists.push((dom.parent(post), posts.len()));
            posts.push((post, heading));
        }
    }
    lists.sort_unstable();
    let mut all_posts: Vec<(NodeId, NodeId)> = Vec::new();
    for list in lists
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|list| list.len() >= MIN_POSTS)
    {
        let posts = list.iter().map(|&(_, at)| posts[at]);
        let heading_text = |(_, heading): (NodeId, NodeId)| u64::from(weights.text[heading as usize]);
        let text = |post: (NodeId, NodeId)| u64::from(weights.prose[post.0 as usize]) + heading_text(post);
        let all: u64 = posts.clone().map(text).sum();
        let page = prose + posts.clone().map(heading_text).sum::<u64>();
        if all * 100 >= page * MIN_SHARE {
            all_posts.extend(posts);
        }
    }
    all_posts.sort_unstable();
    all_posts
}

/// Returns the largest element around a heading that has no other one of these.
fn post_of(dom: &Dom, body: NodeId, headings: &[NodeId], heading: NodeId) -> NodeId {
    let before = |id: NodeId| headings.partition_point(|&other| other < id);
    let count = |nodes: Range<NodeId>| before(nodes.end) - before(nodes.start);
    let around = dom.ancestors(heading).take(MAX_LEVELS);
    around
        .take_while(|&up| up > body && count(up..dom.end(up)) == 1)
        .last()
        .unwrap_or(heading)
}

#[cfg(test)]
mod tests {
    use super::super::test_page::TestPage;
    use super::*;

    /// Returns the first words of the blocks that are kept of a page of which the model keeps one post only.
    fn kept(html: &str) -> Vec<String> {
        let page = TestPage::of(PageKind::Other, html);
        let first_word = |block: &Block| {
            let text = page.dom.text_of(block.id, 5);
            text.trim().split([' ', ',']).next().unwrap().to_owned()
        };
        let mut decisions = page.decisions(|block| if first_word(block) == "Third" { 600 } else { 150 });
        restore(&mut decisions, &Url::parse("https://example.org/posts").unwrap());
        decisions.kept().map(first_word).collect()
    }

    #[test]
    fn all_posts_of_a_list_are_kept_with_their_headings() {
        let text = |start: &str| {
            format!(
                "<p>{start}, the ferry to the island leaves at nine again, and the last boat comes back at eight in the \
                 evening, on Sundays at seven.</p>"
            )
        };
        let post = |heading: &str, paragraph: &str| {
            format!(
                "<div><h2><a href=/post>{heading}</a></h2><p>May 4</p>{}</div>",
                text(paragraph)
            )
        };
        let posts = [post("One", "First"), post("Two", "Other"), post("Three", "Third")].concat();
        assert_eq!(
            kept(&format!("<div>{posts}</div>")),
            ["One", "First", "Two", "Other", "Three", "Third"]
        );
        let long = text("Story").repeat(3);
        assert_eq!(
            kept(&format!("<article>{long}</article><div>{posts}</div>")),
            ["Third"]
        );
        for (other, reason) in [
            ("https://example.com/post", "another site"),
            ("/posts", "the page itself"),
        ] {
            let posts = posts.replace("/post", other);
            assert_eq!(kept(&format!("<div>{posts}</div>")), ["Third"], "{reason}");
        }
        let beside = kept(&format!("<div class=sidebar><div>{posts}</div></div>"));
        assert_eq!(beside.len(), 6, "{beside:?}");
    }
}
