//! Which part of a page is its content. Chooses roots and marks what is left out inside them; never changes the page.
//!
//! Names give hints, weights decide: what is called boilerplate goes unless much of the page's text hangs on it; then the
//! walk goes down from `body` as long as one child holds nearly all of the weight; then what leads away is pruned.

mod hints;
mod kind;
mod mass;
mod prune;

use url::Url;

use self::hints::Hint;
use self::kind::Kind;
use self::mass::Mass;
use crate::html::dom::{attr, collapse, Dom, NodeId};
use crate::html::tag::Tag;

/// A block called boilerplate stays when it holds this much of the page's weight, in percent.
const MUCH_PERCENT: u64 = 35;
/// The walk goes down into a child that holds this much of the weight, in percent.
const DESCEND_PERCENT: u64 = 80;
/// A `main` or `article` is believed when it holds this much of the weight, in percent.
const BELIEVED_PERCENT: u64 = 45;
/// Bytes of chosen text under which the choice is doubted.
const LITTLE_TEXT_BYTES: u32 = 250;

/// The roots of the main content in document order; marks what is left out inside them in `dropped`.
pub(crate) fn choose(dom: &Dom, url: &Url, dropped: &mut [bool]) -> Vec<NodeId> {
    let body = dom.first(0, Tag::Body).unwrap_or(0);
    let mut kind = kind::kind(dom, url);
    let mut mass = Mass::of(dom, dropped);
    let whole = mass.weight(body).max(1);
    let whole_text = mass.text[body as usize];
    mark_boilerplate(dom, body, kind, &mass, whole, dropped);
    mass.clear();
    mass.sum(dom, dropped);
    let mut root = descend(dom, &mass, believed(dom, body, &mass));
    if kind == Kind::Other && is_prose(&mass, root) {
        kind = Kind::Article;
    }
    prune::prune(dom, root, kind, &mut mass, dropped);
    mass.clear();
    mass.sum(dom, dropped);
    let chosen = mass.text[root as usize];
    if chosen < LITTLE_TEXT_BYTES && u64::from(whole_text) > u64::from(chosen) * 3 {
        // Too little: everything that is not plainly furniture.
        dropped.fill(false);
        for id in dom.below(body) {
            dropped[id as usize] = matches!(dom.tag(id), Tag::Nav | Tag::Footer | Tag::Dialog) || hints::hint(dom, id) == Hint::Hidden;
        }
        mass.clear();
        mass.sum(dom, dropped);
        if mass.text[body as usize] <= chosen.max(20) {
            dropped.fill(false);
        }
        return vec![body];
    }
    root = widen(dom, root);
    let mut roots = vec![root];
    if let Some(title) = title(dom, body, root, kind, dropped) {
        roots.insert(0, title);
    }
    roots
}

/// Follows the hints of names where they cost little text.
fn mark_boilerplate(dom: &Dom, body: NodeId, kind: Kind, mass: &Mass, whole: u64, dropped: &mut [bool]) {
    let mut at = body + 1;
    while at < dom.end(body) {
        let tag = dom.tag(at);
        if tag == Tag::Pre || tag == Tag::Svg || tag == Tag::Math {
            at = dom.end(at);
            continue;
        }
        let share = mass.weight(at) * 100 / whole;
        let short = mass.text[at as usize] < 200;
        let drop = match hints::hint(dom, at) {
            Hint::None => false,
            Hint::Hidden => share < 60,
            Hint::Boilerplate => share < MUCH_PERCENT && !holds_main(dom, at),
            Hint::Weak => share < MUCH_PERCENT && !holds_main(dom, at) && (mass.linked_percent(at) > 40 || (short && is_furniture(dom, at, mass, kind))),
            Hint::Comments => kind != Kind::Forum && share < 90 && !holds_main(dom, at),
            Hint::Byline => share < 20 && (kind == Kind::Article && (short || mass.linked_percent(at) > 30) || kind == Kind::Forum && short),
        };
        if drop {
            dropped[at as usize] = true;
            at = dom.end(at);
        } else {
            at += 1;
        }
    }
}

/// A short block with a doubtful name: furniture in an article unless it holds a heading.
fn is_furniture(dom: &Dom, id: NodeId, mass: &Mass, kind: Kind) -> bool {
    kind == Kind::Article && mass.prose[id as usize] == 0 && !dom.below(id).any(|n| dom.tag(n).heading_level().is_some())
}

fn holds_main(dom: &Dom, id: NodeId) -> bool {
    dom.below(id).any(|n| dom.tag(n) == Tag::Main || dom.attr(n, attr::ROLE) == Some("main"))
}

/// Where the walk down starts: `main`, the one big `article`, or `body`.
fn believed(dom: &Dom, body: NodeId, mass: &Mass) -> NodeId {
    let heaviest = |is: &dyn Fn(NodeId) -> bool, within: NodeId| {
        dom.below(within).filter(|&n| is(n)).max_by_key(|&n| (mass.weight(n), std::cmp::Reverse(n)))
    };
    let holds = |node: NodeId, within: NodeId, percent: u64| mass.weight(node) * 100 >= mass.weight(within) * percent;
    let mut root = body;
    let is_main = |n: NodeId| dom.tag(n) == Tag::Main || dom.attr(n, attr::ROLE) == Some("main") || dom.attr(n, attr::ITEMPROP) == Some("articleBody");
    if let Some(main) = heaviest(&is_main, body)
        && holds(main, body, BELIEVED_PERCENT)
    {
        root = main;
    }
    let is_article = |n: NodeId| dom.tag(n) == Tag::Article || dom.attr(n, attr::ROLE) == Some("article");
    if let Some(article) = heaviest(&is_article, root)
        && holds(article, root, 60)
    {
        root = article;
    }
    root
}

/// Down as long as one child holds nearly everything.
fn descend(dom: &Dom, mass: &Mass, from: NodeId) -> NodeId {
    let mut root = from;
    loop {
        let weight = mass.weight(root);
        let next = dom.children(root).max_by_key(|&child| (mass.weight(child), std::cmp::Reverse(child)));
        match next {
            Some(child) if is_container(dom.tag(child)) && mass.weight(child) * 100 >= weight * DESCEND_PERCENT => root = child,
            _ => return root,
        }
    }
}

/// Elements that may be a root; a list or table keeps its own element.
fn is_container(tag: Tag) -> bool {
    matches!(tag, Tag::Div | Tag::Section | Tag::Article | Tag::Main | Tag::Form | Tag::Center | Tag::Body | Tag::Span | Tag::Other | Tag::Font)
        || matches!(tag, Tag::Table | Tag::Tbody | Tag::Tr | Tag::Td)
}

/// A row or cell is shown with its table only when the table is wanted; alone it is a block like any other.
fn widen(_dom: &Dom, root: NodeId) -> NodeId {
    root
}

fn is_prose(mass: &Mass, root: NodeId) -> bool {
    let at = root as usize;
    mass.prose[at] > 1200 && u64::from(mass.prose[at]) * 100 >= u64::from(mass.text[at]) * 65
}

/// The page's title heading when it stands before the root: the first `h1`, or the one that the title repeats.
fn title(dom: &Dom, body: NodeId, root: NodeId, kind: Kind, dropped: &[bool]) -> Option<NodeId> {
    let has_own = dom.below(root).any(|n| dom.tag(n) == Tag::H1 && !is_dropped(dom, root, n, dropped));
    if has_own || kind == Kind::Article && !TITLE_IN_ARTICLES {
        return None;
    }
    let page_title = (0..dom.len()).find(|&n| dom.tag(n) == Tag::Title).map(|n| collapse(&dom.text_of(n, 1000)).to_lowercase()).unwrap_or_default();
    let headings: Vec<NodeId> = dom.below(body).filter(|&n| dom.tag(n) == Tag::H1 && !(n > root && n < dom.end(root) && !is_dropped(dom, root, n, dropped))).collect();
    let text = |n: NodeId| collapse(&dom.text_of(n, 1000)).to_lowercase();
    headings
        .iter()
        .copied()
        .find(|&n| {
            let text = text(n);
            text.len() > 3 && page_title.contains(&text)
        })
        .or_else(|| headings.iter().copied().find(|&n| n < root && text(n).len() > 3 && !dom.ancestors(n).any(|a| matches!(dom.tag(a), Tag::Nav))))
}

/// Whether the title heading is put before an article whose text stands apart from it.
const TITLE_IN_ARTICLES: bool = true;

fn is_dropped(dom: &Dom, root: NodeId, id: NodeId, dropped: &[bool]) -> bool {
    let mut at = id;
    while at != root && at != 0 {
        if dropped[at as usize] {
            return true;
        }
        at = dom.parent(at);
    }
    false
}
