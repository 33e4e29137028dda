//! Features of each block with text of its own, for the model in `classifier`. Integers only, so that every
//! platform computes the same features and decisions.

use crate::hash::HashMap;

use super::block_text::{BlockText, block_texts};
use super::containers::{Containers, MAX_ANCESTORS};
use super::cues::Cues;
use super::description;
use super::element_names::{self, GROUPS, LISTS_PAGES, LISTS_SITE, NameHints};
use super::hints::Hint;
use super::kind::PageKind;
use super::stated::{self, StatedText};
use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Blocks before and after that are included.
const NEIGHBOURS: usize = 2;

/// More than the number of tags.
const TAGS: usize = u8::MAX as usize + 1;

/// One block with text of its own.
pub(crate) struct Block {
    pub(crate) id: NodeId,
    pub(crate) features: Vec<i32>,
    /// Hash of its text, and key of the start of its text, unless that is short.
    pub(super) hash: u64,
    pub(super) start: Option<u64>,
    /// It refers to other pages by its words, those of the text before, or those of its heading.
    pub(super) leads_away: bool,
    /// Names or elements around it mark it as secondary content.
    pub(super) named_beside: bool,
    /// The same, apart from names that content may have as well.
    pub(super) surely_beside: bool,
    /// It is in the navigation, a header or footer, a consent dialog, or hidden.
    pub(super) of_site: bool,
    /// It is in the navigation.
    pub(super) in_navigation: bool,
    /// It is in a `main` or `article`.
    pub(super) within_main: bool,
    /// It is in a table of contents of other pages, which is among the paragraphs of the page's longest text.
    pub(super) in_contents: bool,
    /// It is a sibling of the paragraphs of the page's longest text, or an item of a list among them.
    pub(super) among_paragraphs: bool,
    pub(super) look: Look,
}

/// What blocks of one kind on a page have in common: their element, its depth, and the names around it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Look {
    tag: i32,
    depth: i32,
    flags: u32,
    words: [u32; 3],
}

impl Block {
    /// Returns the number of words.
    pub(super) fn size(&self) -> i32 {
        self.features[1].max(1)
    }

    /// Returns the share of its text in links, in percent.
    pub(super) fn linked_percent(&self) -> i32 {
        self.features[2]
    }

    /// Returns true for an `h1` that the rules chose.
    pub(super) fn is_chosen_heading(&self) -> bool {
        self.features[11] == tag_code(Tag::H1) && self.features[12] == 1
    }

    /// Returns true for an `h2` that the rules chose and whose text is the page's title: the heading of a page without
    /// `h1`, such as a chapter of a book.
    pub(super) fn is_chosen_title(&self) -> bool {
        self.features[11] == tag_code(Tag::H2) && self.features[12] == 1 && self.features[16] == 2
    }

    /// Returns true for an `h1` whose text is in the page's title.
    pub(super) fn is_title(&self) -> bool {
        self.features[11] == tag_code(Tag::H1) && self.features[16] > 0
    }
}

/// State of an open element.
#[derive(Clone, Copy)]
struct OpenElement {
    end: NodeId,
    flags: u32,
    /// Flags of secondary content, unless the longest text is inside.
    beside: u32,
    depth: i32,
    repeats: i32,
    repeats_text: i32,
    /// Position of the outermost `article` among those of the page, from 1.
    article: i32,
}

/// Computes the features of all blocks in document order. `kept` is the choice of the rules.
pub(crate) fn measure(
    dom: &Dom,
    host: &str,
    body: NodeId,
    kind: PageKind,
    names: &[NameHints],
    weights: &TextWeights,
    kept: &[bool],
) -> Vec<Block> {
    let owns = block_texts(dom, host, weights, kept);
    let same = repeats(dom, weights);
    let total: i64 = owns.iter().map(|o| i64::from(o.bytes)).sum::<i64>().max(1);
    let total_linked: i64 = owns.iter().map(|o| i64::from(o.linked)).sum();
    let kept_total: i64 = owns.iter().filter(|o| o.kept).map(|o| i64::from(o.bytes)).sum();
    let prose = i64::from(weights.prose[body as usize]);
    let mut times: HashMap<u64, i32> = HashMap::default();
    for o in &owns {
        *times.entry(o.hash()).or_default() += 1;
    }
    let title = super::title::of_page(dom);
    let description = description::of_page(dom);
    let stated = StatedText::of(dom);
    let mut starts_seen: HashMap<u64, i32> = HashMap::default();
    let sizes: Vec<(NodeId, i32, i32)> = owns.iter().map(|o| (o.id, o.bytes, o.linked)).collect();
    let containers = Containers::of(dom, body, weights, &sizes);
    let kept_bytes = kept_bytes(dom, &owns);
    let first_h1 = (0..dom.len()).find(|&n| dom.tag(n) == Tag::H1).unwrap_or(0);
    let articles = (0..dom.len())
        .filter(|&n| dom.tag(n) == Tag::Article)
        .take(100)
        .count() as i32;
    let h1_block = owns.iter().position(|o| o.id >= first_h1 && first_h1 > 0);
    let first_kept = owns.iter().position(|o| o.kept);
    let last_kept = owns.iter().rposition(|o| o.kept);
    let mut around: Vec<OpenElement> = Vec::new();
    let mut at: NodeId = 1;
    let mut before = 0i64;
    let mut articles_seen = 0;
    let mut heading: (i32, i32, i32, i32) = (0, 0, 0, 0); // level, blocks since, leads away, kept
    let mut heading_cues = Cues::default();
    let mut cues_before = Cues::default();
    let mut out: Vec<Block> = Vec::with_capacity(owns.len());
    for (index, o) in owns.iter().enumerate() {
        while at <= o.id {
            while around.last().is_some_and(|a| a.end <= at) {
                around.pop();
            }
            if dom.tag(at) != Tag::Text {
                let up = around.last().copied();
                let repeats = i32::from(same[at as usize]);
                let (mut r, mut rt) = up.map_or((0, 0), |a| (a.repeats, a.repeats_text));
                if repeats > 2 {
                    (r, rt) = (repeats, weights.text[at as usize].min(100_000) as i32);
                }
                let article = match up.map_or(0, |a| a.article) {
                    0 if dom.tag(at) == Tag::Article => {
                        articles_seen += 1;
                        articles_seen
                    }
                    outer => outer,
                };
                let own = flags(dom, names, at);
                // An element around the longest text is not beside it, except in articles: they have one text with
                // captions around it.
                let holds_best = kind != PageKind::Article && (at..dom.end(at)).contains(&containers.best);
                around.push(OpenElement {
                    article,
                    end: dom.end(at),
                    flags: up.map_or(0, |a| a.flags) | own,
                    beside: up.map_or(0, |a| a.beside) | if holds_best { 0 } else { own & BESIDE },
                    depth: up.map_or(0, |a| a.depth) + 1,
                    repeats: r,
                    repeats_text: rt,
                });
            }
            at += 1;
        }
        let here = around.last().copied().unwrap_or(OpenElement {
            end: 0,
            flags: 0,
            beside: 0,
            depth: 0,
            repeats: 0,
            repeats_text: 0,
            article: 0,
        });
        let tag = dom.tag(o.id);
        let start = super::title::start_of(dom, o.id);
        let cues = Cues::read(&start);
        if let Some(level) = tag.heading_level() {
            heading_cues = cues;
            let text = crate::html::dom::collapse(&dom.text_of(o.id, 200));
            heading = (
                i32::from(level),
                0,
                i32::from(super::hints::is_link_block_title(&text)),
                i32::from(o.kept),
            );
        }
        let (mut scrap, mut titled) = (0, 0);
        if o.bytes <= 150 {
            scrap = i32::from(super::hints::is_control_text(&start))
                + 2 * i32::from(super::hints::is_link_block_title(&start));
            titled = match (start.len() > 3 && title.contains(&start), title == start) {
                (true, true) => 2,
                (true, false) => 1,
                _ => 0,
            };
        }
        let mut f: Vec<i32> = Vec::with_capacity(out.last().map_or(0, |block| block.features.len()));
        f.extend([
            o.bytes,
            o.words,
            percent(o.linked, o.bytes),
            o.links,
            o.sentences,
            o.commas,
            percent(o.digits, o.bytes),
            percent(o.capitals, o.bytes),
            i32::from(o.closed),
            i32::from(o.begins),
            o.bytes / o.words.max(1),
            tag_code(tag),
            i32::from(o.kept),
            kind as i32,
            times[&o.hash()].min(50),
            scrap,
            titled,
            o.symbols,
            o.images,
        ]);
        // Position on the page.
        f.extend([
            (before * 1000 / total) as i32,
            index as i32,
            (owns.len() - index) as i32,
            h1_block.map_or(-1000, |h| (index as i32 - h as i32).clamp(-900, 900)),
            first_kept.map_or(-1000, |h| (index as i32 - h as i32).clamp(-900, 900)),
            last_kept.map_or(-1000, |h| (h as i32 - index as i32).clamp(-900, 900)),
            heading.0,
            heading.1.min(200),
            heading.2,
            heading.3,
            here.depth,
            here.repeats,
            here.repeats_text,
        ]);
        // The page.
        f.extend([
            total.min(1_000_000) as i32,
            owns.len() as i32,
            (prose * 100 / total) as i32,
            (total_linked * 100 / total) as i32,
            (kept_total * 100 / total) as i32,
            articles,
        ]);
        // Neighbouring blocks.
        for distance in 1..=NEIGHBOURS {
            for other in [index.checked_sub(distance), Some(index + distance)] {
                match other.and_then(|i| owns.get(i)) {
                    Some(o) => f.extend([
                        o.bytes,
                        percent(o.linked, o.bytes),
                        i32::from(o.kept),
                        i32::from(o.closed),
                        tag_code(dom.tag(o.id)),
                    ]),
                    None => f.extend([-1, -1, -1, -1, -1]),
                }
            }
        }
        // The nearest blocks, averaged.
        let (mut near, mut near_bytes, mut near_linked) = (0, 0, 0);
        let range = index.saturating_sub(6)..(index + 7).min(owns.len());
        let n = range.len() as i32;
        for o in &owns[range] {
            near += i32::from(o.kept);
            near_bytes += o.bytes.min(2000);
            near_linked += o.linked.min(2000);
        }
        f.extend([near * 100 / n, near_bytes / n, percent(near_linked, near_bytes)]);
        // Ancestors that contain clearly more text than the one below.
        let mut text = weights.text[o.id as usize].max(1);
        let mut found = 0;
        let mut last = o.id;
        let steps = [1u32, 2, 4, 4];
        for up in dom.ancestors(o.id).take(MAX_ANCESTORS) {
            if found == steps.len() || up <= body {
                break;
            }
            let more = weights.text[up as usize];
            if u64::from(more) > u64::from(text) * u64::from(steps[found]) {
                f.extend(holder(dom, weights, up, more, total, &kept_bytes));
                text = more;
                found += 1;
                last = up;
            }
        }
        for _ in found..steps.len() {
            f.extend([-1, -1, -1, -1, -1]);
        }
        f.push((o.id - last) as i32);
        // Words of the text, of the text before and of the last heading.
        f.extend(cues.counts.map(i32::from));
        f.extend([
            i32::from(cues.see_also),
            i32::from(cues_before.see_also),
            cues_before.strongest(),
            i32::from(heading_cues.see_also),
            heading_cues.strongest(),
            i32::from(description.matches(&start)),
        ]);
        let leads_away = cues.see_also || cues_before.see_also || heading_cues.see_also;
        cues_before = cues;
        // What the block is made of and where it is.
        f.extend([
            percent(o.emphasised, o.bytes),
            percent(o.strong, o.bytes),
            o.images_before,
            owns.get(index + 1).map_or(0, |next| next.images_before),
        ]);
        let container = containers.features(dom, o.id);
        f.extend(container);
        // What it repeats, and where its links lead.
        f.extend(stated.features(&start));
        let start_key = stated::key(&start);
        f.push(match start_key {
            Some(key) => {
                let seen = starts_seen.entry(key).or_default();
                *seen += 1;
                (*seen).min(4)
            }
            None => 0,
        });
        f.extend([
            percent(o.to_fragments, o.bytes),
            percent(o.to_sites, o.bytes),
            here.article.min(20),
        ]);
        // NameHints.
        f.extend((0..FLAGS).map(|bit| (here.flags >> bit & 1) as i32));
        let [own_words, near_words, all_words] = element_names::groups_around(dom, names, o.id);
        f.extend((0..GROUPS).map(|bit| {
            (own_words >> bit & 1) as i32 * 3
                + (near_words >> bit & 1) as i32 * 2
                + (all_words >> bit & 1) as i32
        }));
        before += i64::from(o.bytes);
        heading.1 += 1;
        out.push(Block {
            id: o.id,
            features: f,
            hash: o.hash(),
            start: start_key,
            leads_away,
            named_beside: here.beside != 0,
            surely_beside: here.beside & !AMBIGUOUS != 0,
            of_site: here.flags & OF_SITE != 0,
            in_navigation: here.flags & NAV != 0,
            within_main: here.flags & (MAIN | ARTICLE) != 0,
            in_contents: all_words & LISTS_PAGES != 0 && container[2] == 0,
            among_paragraphs: o.id == containers.best || (container[..2].contains(&100) && container[2] == 0),
            look: Look {
                tag: tag_code(tag),
                depth: here.depth,
                flags: here.flags,
                words: [own_words, near_words, all_words],
            },
        });
    }
    out
}

const FLAGS: u32 = 23;
const NAV: u32 = 1;
const FOOTER: u32 = 1 << 1;
const HEADER: u32 = 1 << 2;
const ASIDE: u32 = 1 << 3;
const FORM: u32 = 1 << 4;
const MAIN: u32 = 1 << 5;
const ARTICLE: u32 = 1 << 6;
const BOILERPLATE: u32 = 1 << 11;
const AMBIGUOUS: u32 = 1 << 12;
const CONSENT: u32 = 1 << 14;
const REVIEWS: u32 = 1 << 15;
const COMMENTS: u32 = 1 << 16;
const HIDDEN: u32 = 1 << 18;
/// Flags of secondary content.
const BESIDE: u32 =
    NAV | FOOTER | ASIDE | FORM | BOILERPLATE | AMBIGUOUS | CONSENT | REVIEWS | COMMENTS | HIDDEN;
/// Flags of what belongs to the site and not to the page.
const OF_SITE: u32 = NAV | FOOTER | HEADER | CONSENT | HIDDEN;

fn flags(dom: &Dom, names: &[NameHints], id: NodeId) -> u32 {
    let tag = match dom.tag(id) {
        Tag::Nav => NAV,
        _ if names[id as usize].words & LISTS_SITE != 0 => NAV,
        Tag::Footer => FOOTER,
        Tag::Header => HEADER,
        Tag::Aside => ASIDE,
        Tag::Form => FORM,
        Tag::Main => MAIN,
        Tag::Article => ARTICLE,
        Tag::Ul | Tag::Ol => 128,
        Tag::Table => 256,
        Tag::Section => 512,
        Tag::Dl | Tag::Details => 1024,
        Tag::Figure => 1 << 20,
        _ => 0,
    };
    let hint = match names[id as usize].hint {
        Hint::None => 0,
        Hint::Boilerplate => BOILERPLATE,
        Hint::Ambiguous => AMBIGUOUS,
        Hint::Form => 1 << 13,
        Hint::Consent => CONSENT,
        Hint::Reviews => REVIEWS,
        Hint::Comments => COMMENTS,
        Hint::Byline => 1 << 17,
        Hint::Hidden => HIDDEN,
    };
    let hidden = match dom.attr(id, attr::ROLE) {
        Some("main") => MAIN,
        Some(_) => 1 << 19,
        None => 0,
    };
    let item = match dom.attr(id, attr::ITEMPROP) {
        Some("articleBody" | "text" | "description") => 1 << 21,
        Some("comment" | "review" | "reviewBody" | "author" | "offers") => 1 << 22,
        _ => 0,
    };
    tag | hint | hidden | item
}

fn holder(dom: &Dom, weights: &TextWeights, id: NodeId, text: u32, total: i64, kept: &[u32]) -> [i32; 5] {
    let at = id as usize;
    [
        text.min(1_000_000) as i32,
        weights.linked_percent(id) as i32,
        (u64::from(weights.prose[at]) * 100 / u64::from(text.max(1))) as i32,
        ((i64::from(text) * 100 / total) as i32) * 8 + tag_code(dom.tag(id)) % 8,
        (u64::from(kept[at]) * 100 / u64::from(text.max(1))) as i32,
    ]
}

/// Returns by node the bytes below it that the rules kept.
fn kept_bytes(dom: &Dom, owns: &[BlockText]) -> Vec<u32> {
    let mut sums = vec![0u32; dom.nodes.len()];
    for o in owns.iter().filter(|o| o.kept) {
        sums[o.id as usize] = o.bytes as u32;
    }
    for id in (1..dom.len()).rev() {
        let parent = dom.parent(id) as usize;
        sums[parent] = sums[parent].saturating_add(sums[id as usize]);
    }
    sums
}

fn percent(part: i32, whole: i32) -> i32 {
    (i64::from(part) * 100 / i64::from(whole.max(1))) as i32
}

fn tag_code(tag: Tag) -> i32 {
    match tag {
        Tag::P => 0,
        Tag::Li => 1,
        Tag::Td | Tag::Th => 2,
        Tag::H1 => 3,
        Tag::H2 => 4,
        Tag::H3 => 5,
        Tag::H4 | Tag::H5 | Tag::H6 => 6,
        Tag::Div => 7,
        Tag::Section | Tag::Article | Tag::Main => 8,
        Tag::Pre => 9,
        Tag::Dt | Tag::Dd => 10,
        Tag::Blockquote => 11,
        Tag::Figcaption | Tag::Caption => 12,
        Tag::Summary | Tag::Details => 13,
        Tag::Legend | Tag::Form | Tag::Fieldset => 14,
        _ => 15,
    }
}

/// Returns by node how many children of its parent have the same tag and first class.
fn repeats(dom: &Dom, weights: &TextWeights) -> Vec<u16> {
    let (looks, number) = numbered_looks(dom);
    let mut out = vec![0u16; dom.nodes.len()];
    let mut counts = vec![0u16; number];
    for parent in 0..dom.len() {
        if dom.tag(parent) == Tag::Text || dom.end(parent) - parent < 4 || weights.text[parent as usize] == 0
        {
            continue;
        }
        let elements = || dom.children(parent).filter(|&child| dom.tag(child) != Tag::Text);
        let mut most = 0;
        for child in elements().filter(|&child| weights.text[child as usize] > 0) {
            let count = &mut counts[looks[child as usize]];
            *count = count.saturating_add(1);
            most = most.max(*count);
        }
        if most >= 3 {
            for child in elements() {
                out[child as usize] = counts[looks[child as usize]];
            }
        }
        for child in elements() {
            counts[looks[child as usize]] = 0;
        }
    }
    out
}

/// Returns by node a number that stands for its tag and first class, and how many numbers there are.
fn numbered_looks(dom: &Dom) -> (Vec<usize>, usize) {
    let mut numbers: HashMap<(Tag, &str), usize> = HashMap::default();
    let number = |id: NodeId| match dom.classes(id).next() {
        // Most elements have no class. These numbers stand for their tags alone.
        None => dom.tag(id) as usize,
        Some(class) => {
            let next = TAGS + numbers.len();
            *numbers.entry((dom.tag(id), class)).or_insert(next)
        }
    };
    let looks = (0..dom.len()).map(number).collect();
    (looks, TAGS + numbers.len())
}
