//! A page for tests of the main content, with its blocks.

use super::block::Block;
use super::decisions::Decisions;
use super::kind::PageKind;
use super::weights::TextWeights;
use super::{element_names, features};
use crate::html::dom::{Dom, NodeId};
use crate::html::parse::parse;
use crate::html::tag::Tag;

/// Probability from which on its blocks are kept.
const CUT: i32 = 500;

pub(super) struct TestPage {
    kind: PageKind,
    pub(super) dom: Dom,
    pub(super) body: NodeId,
    pub(super) weights: TextWeights,
    in_widget: Vec<bool>,
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
            kind,
            in_widget: element_names::within_widgets(&dom, body, &names, &weights),
            dom,
            body,
            weights,
            blocks,
        }
    }

    pub(super) fn decisions(&self, probability: impl FnMut(&Block) -> i32) -> Decisions<'_> {
        Decisions {
            dom: &self.dom,
            kind: self.kind,
            weights: &self.weights,
            in_widget: &self.in_widget,
            blocks: &self.blocks,
            probabilities: self.blocks.iter().map(probability).collect(),
            cut: CUT,
        }
    }
}
