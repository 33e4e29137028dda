//! A page for tests of the main content, with its blocks.

use super::block::Block;
use super::kind::PageKind;
use super::weights::TextWeights;
use super::{element_names, features};
use crate::html::dom::{Dom, NodeId};
use crate::html::parse::parse;
use crate::html::tag::Tag;

pub(super) struct TestPage {
    pub(super) dom: Dom,
    pub(super) body: NodeId,
    pub(super) weights: TextWeights,
    pub(super) blocks: Vec<Block>,
}

impl TestPage {
    /// Measures a page of which the rules choose everything.
    pub(super) fn of(kind: PageKind, html: &str) -> Self {
        let dom = parse(html);
        let body = dom.first(0, Tag::Body).unwrap();
        let weights = TextWeights::of(&dom, &vec![false; dom.nodes.len()]);
        let (names, kept) = (element_names::read(&dom), vec![true; dom.nodes.len()]);
        let blocks = features::measure(&dom, "example.org", body, kind, &names, &weights, &kept);
        Self {
            dom,
            body,
            weights,
            blocks,
        }
    }

    /// Returns a probability for each block.
    pub(super) fn probabilities(&self, probability: impl FnMut(&Block) -> i32) -> Vec<i32> {
        self.blocks.iter().map(probability).collect()
    }
}
