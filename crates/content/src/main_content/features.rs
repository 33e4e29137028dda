//! Features of each block with text of its own, for the model in `classifier`. Integers only, so that every
//! platform computes the same features and decisions. Their order is that in which the model was trained.

use crate::hash::HashMap;

use super::block::{Block, Look, tag_code};
use super::block_text::{BlockText, block_texts};
use super::containers::{Containers, MAX_ANCESTORS};
use super::cues::Cues;
use super::description::{self, Description};
use super::element_names::{self, GROUPS, LISTS_PAGES, NameHints};
use super::hints;
use super::kind::PageKind;
use super::open_elements::{FLAGS, OpenElements, Surroundings};
use super::stated::{self, StatedText};
use super::title;
use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, collapse};
use crate::html::tag::Tag;

/// Number of features of a block.
const FEATURES: usize = 164;
/// Blocks before and after that are included.
const NEIGHBOURS: usize = 2;
/// Blocks before and after that are averaged.
const NEAREST: usize = 6;
/// An ancestor counts when it has this many times the text of the one before: for the first, the second, ...
const ANCESTOR_STEPS: [u32; 4] = [1, 2, 4, 4];
/// Maximum bytes of a text that may be a control or a title.
const SHORT_BYTES: i32 = 150;
/// Maximum number of `article` elements that are counted.
const MAX_ARTICLES: usize = 100;

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
    let texts = block_texts(dom, host, weights, kept);
    let page = Page::of(dom, body, kind, names, weights, &texts);
    // An element around the longest text is not beside it, except in articles: they have one text with captions
    // around it.
    let content = (kind != PageKind::Article).then_some(page.containers.best);
    let mut elements = OpenElements::of(dom, names, weights, content);
    let mut before = Before::default();
    (0..texts.len())
        .map(|at| page.block(at, elements.around(texts[at].id), &mut before))
        .collect()
}

/// A page, and what is counted on all of it.
struct Page<'a> {
    dom: &'a Dom,
    body: NodeId,
    kind: PageKind,
    names: &'a [NameHints],
    weights: &'a TextWeights,
    texts: &'a [BlockText],
    /// Bytes of all blocks, at least 1, of which so many are in links, and so many in blocks that the rules kept.
    bytes: i64,
    linked: i64,
    kept: i64,
    /// By node: bytes below it that the rules kept.
    kept_below: Vec<u32>,
    /// By the hash of a text: number of blocks that have it.
    copies: HashMap<u64, i32>,
    title: String,
    description: Description,
    stated: StatedText,
    containers: Containers,
    articles: i32,
    /// Positions of the first block from the first `h1` on, and of the first and the last one that the rules kept.
    heading: Option<usize>,
    first_kept: Option<usize>,
    last_kept: Option<usize>,
}

/// What the blocks before one were.
#[derive(Default)]
struct Before {
    bytes: i64,
    cues: Cues,
    heading: LastHeading,
    /// By the key of the start of a text: number of blocks that start with it.
    starts: HashMap<u64, i32>,
}

#[derive(Default)]
struct LastHeading {
    level: i32,
    /// Number of blocks from it on.
    distance: i32,
    is_link_block_title: bool,
    kept: bool,
    cues: Cues,
}

impl<'a> Page<'a> {
    fn of(
        dom: &'a Dom,
        body: NodeId,
        kind: PageKind,
        names: &'a [NameHints],
        weights: &'a TextWeights,
        texts: &'a [BlockText],
    ) -> Self {
        let sum = |bytes: fn(&BlockText) -> i32| texts.iter().map(|text| i64::from(bytes(text))).sum::<i64>();
        let mut copies: HashMap<u64, i32> = HashMap::default();
        for text in texts {
            *copies.entry(text.hash()).or_default() += 1;
        }
        let elements = |tag: Tag| (0..dom.len()).filter(move |&id| dom.tag(id) == tag);
        let first_heading = elements(Tag::H1).next();
        let sizes: Vec<(NodeId, i32, i32)> = texts
            .iter()
            .map(|text| (text.id, text.bytes, text.linked))
            .collect();
        Page {
            dom,
            body,
            kind,
            names,
            weights,
            texts,
            bytes: sum(|text| text.bytes).max(1),
            linked: sum(|text| text.linked),
            kept: sum(|text| if text.kept { text.bytes } else { 0 }),
            kept_below: kept_below(dom, texts),
            copies,
            title: title::of_page(dom),
            description: description::of_page(dom),
            stated: StatedText::of(dom),
            containers: Containers::of(dom, body, weights, &sizes),
            articles: elements(Tag::Article).take(MAX_ARTICLES).count() as i32,
            heading: first_heading.and_then(|heading| texts.iter().position(|text| text.id >= heading)),
            first_kept: texts.iter().position(|text| text.kept),
            last_kept: texts.iter().rposition(|text| text.kept),
        }
    }

    /// Measures the block at a position, and adds it to those `before`.
    fn block(&self, at: usize, around: Surroundings, before: &mut Before) -> Block {
        let text = &self.texts[at];
        let start = title::start_of(self.dom, text.id);
        let start_key = stated::key(&start);
        let cues = Cues::read(&start);
        if let Some(level) = self.dom.tag(text.id).heading_level() {
            let words = collapse(&self.dom.text_of(text.id, 200));
            before.heading = LastHeading {
                level: i32::from(level),
                distance: 0,
                is_link_block_title: hints::is_link_block_title(&words),
                kept: text.kept,
                cues,
            };
        }
        let container = self.containers.features(self.dom, text.id);
        let is_inside = container[2] == 0;
        let words = element_names::groups_around(self.dom, self.names, text.id);

        let mut features = Vec::with_capacity(FEATURES);
        features.extend(self.text(text, &start));
        features.extend(self.position(at, before));
        features.extend([around.depth, around.repeats, around.repeated_text]);
        features.extend(self.whole_page());
        for distance in 1..=NEIGHBOURS {
            features.extend(self.neighbour(at.checked_sub(distance)));
            features.extend(self.neighbour(Some(at + distance)));
        }
        features.extend(self.nearest(at));
        self.add_ancestors(text.id, &mut features);
        features.extend(cues.counts.map(i32::from));
        features.extend([
            i32::from(cues.see_also),
            i32::from(before.cues.see_also),
            before.cues.strongest(),
            i32::from(before.heading.cues.see_also),
            before.heading.cues.strongest(),
            i32::from(self.description.matches(&start)),
        ]);
        features.extend([
            percent(text.emphasised, text.bytes),
            percent(text.strong, text.bytes),
            text.images_before,
            self.texts.get(at + 1).map_or(0, |next| next.images_before),
        ]);
        features.extend(container);
        features.extend(self.stated.features(&start));
        features.push(start_key.map_or(0, |key| before.count_start(key)));
        features.extend([
            percent(text.to_fragments, text.bytes),
            percent(text.to_sites, text.bytes),
            around.article.min(20),
        ]);
        features.extend((0..FLAGS).map(|bit| (around.flags >> bit & 1) as i32));
        features.extend((0..GROUPS).map(|bit| {
            let [own, near, all] = words.map(|groups| (groups >> bit & 1) as i32);
            own * 3 + near * 2 + all
        }));
        debug_assert_eq!(features.len(), FEATURES);

        let leads_away = cues.see_also || before.cues.see_also || before.heading.cues.see_also;
        before.add(text, cues);
        Block {
            id: text.id,
            features,
            hash: text.hash(),
            start: start_key,
            leads_away,
            in_contents: words[2] & LISTS_PAGES != 0 && is_inside,
            among_paragraphs: text.id == self.containers.best || (container[..2].contains(&100) && is_inside),
            around,
            look: Look {
                tag: tag_code(self.dom.tag(text.id)),
                depth: around.depth,
                flags: around.flags,
                words,
            },
        }
    }

    /// What the text of a block consists of. The positions of some of these are in `block`.
    fn text(&self, text: &BlockText, start: &str) -> [i32; 19] {
        let (mut control, mut titled) = (0, 0);
        if text.bytes <= SHORT_BYTES {
            control =
                i32::from(hints::is_control_text(start)) + 2 * i32::from(hints::is_link_block_title(start));
            titled = match start.len() > 3 && self.title.contains(start) {
                true if self.title == start => 2,
                is_part => i32::from(is_part),
            };
        }
        [
            text.bytes,
            text.words,
            percent(text.linked, text.bytes),
            text.links,
            text.sentences,
            text.commas,
            percent(text.digits, text.bytes),
            percent(text.capitals, text.bytes),
            i32::from(text.closed),
            i32::from(text.begins),
            text.bytes / text.words.max(1),
            tag_code(self.dom.tag(text.id)),
            i32::from(text.kept),
            self.kind as i32,
            self.copies[&text.hash()].min(50),
            control,
            titled,
            text.symbols,
            text.images,
        ]
    }

    /// Where a block is on the page.
    fn position(&self, at: usize, before: &Before) -> [i32; 10] {
        let from =
            |other: Option<usize>| other.map_or(-1000, |other| (at as i32 - other as i32).clamp(-900, 900));
        [
            (before.bytes * 1000 / self.bytes) as i32,
            at as i32,
            (self.texts.len() - at) as i32,
            from(self.heading),
            from(self.first_kept),
            self.last_kept.map_or(-1000, |last| -from(Some(last))),
            before.heading.level,
            before.heading.distance.min(200),
            i32::from(before.heading.is_link_block_title),
            i32::from(before.heading.kept),
        ]
    }

    /// What the page consists of.
    fn whole_page(&self) -> [i32; 6] {
        let share = |part: i64| (part * 100 / self.bytes) as i32;
        [
            self.bytes.min(1_000_000) as i32,
            self.texts.len() as i32,
            share(i64::from(self.weights.prose[self.body as usize])),
            share(self.linked),
            share(self.kept),
            self.articles,
        ]
    }

    /// One of the blocks before and after.
    fn neighbour(&self, at: Option<usize>) -> [i32; 5] {
        match at.and_then(|at| self.texts.get(at)) {
            Some(text) => [
                text.bytes,
                percent(text.linked, text.bytes),
                i32::from(text.kept),
                i32::from(text.closed),
                tag_code(self.dom.tag(text.id)),
            ],
            None => [-1; 5],
        }
    }

    /// The nearest blocks, averaged.
    fn nearest(&self, at: usize) -> [i32; 3] {
        let range = at.saturating_sub(NEAREST)..(at + NEAREST + 1).min(self.texts.len());
        let number = range.len() as i32;
        let (mut kept, mut bytes, mut linked) = (0, 0, 0);
        for text in &self.texts[range] {
            kept += i32::from(text.kept);
            bytes += text.bytes.min(2000);
            linked += text.linked.min(2000);
        }
        [kept * 100 / number, bytes / number, percent(linked, bytes)]
    }

    /// Adds ancestors that contain clearly more text than the one below, and the distance of the last one.
    fn add_ancestors(&self, id: NodeId, features: &mut Vec<i32>) {
        let mut steps = ANCESTOR_STEPS.into_iter();
        let mut step = steps.next();
        let mut below = self.weights.text[id as usize].max(1);
        let mut last = id;
        for up in self.dom.ancestors(id).take(MAX_ANCESTORS) {
            let Some(times) = step.filter(|_| up > self.body) else {
                break;
            };
            let text = self.weights.text[up as usize];
            if u64::from(text) > u64::from(below) * u64::from(times) {
                features.extend(self.ancestor(up));
                below = text;
                last = up;
                step = steps.next();
            }
        }
        for _ in step.into_iter().chain(steps) {
            features.extend([-1; 5]);
        }
        features.push((id - last) as i32);
    }

    fn ancestor(&self, id: NodeId) -> [i32; 5] {
        let at = id as usize;
        let text = self.weights.text[at];
        let share = |part: u32| (u64::from(part) * 100 / u64::from(text.max(1))) as i32;
        [
            text.min(1_000_000) as i32,
            self.weights.linked_percent(id) as i32,
            share(self.weights.prose[at]),
            ((i64::from(text) * 100 / self.bytes) as i32) * 8 + tag_code(self.dom.tag(id)) % 8,
            share(self.kept_below[at]),
        ]
    }
}

impl Before {
    /// Counts one more block that starts so, and returns their number, at most 4.
    fn count_start(&mut self, key: u64) -> i32 {
        let count = self.starts.entry(key).or_default();
        *count += 1;
        (*count).min(4)
    }

    fn add(&mut self, text: &BlockText, cues: Cues) {
        self.bytes += i64::from(text.bytes);
        self.cues = cues;
        self.heading.distance += 1;
    }
}

/// Returns by node the bytes below it that the rules kept.
fn kept_below(dom: &Dom, texts: &[BlockText]) -> Vec<u32> {
    let mut sums = vec![0u32; dom.nodes.len()];
    for text in texts.iter().filter(|text| text.kept) {
        sums[text.id as usize] = text.bytes as u32;
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
