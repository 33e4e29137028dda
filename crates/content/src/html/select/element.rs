//! Elements of a page as the `selectors` crate sees them. Every question about an element is a step of the work that
//! the page may still spend on selectors.

use std::borrow::Borrow;
use std::cell::{Cell, OnceCell};
use std::fmt;

use cssparser::ToCss;
use precomputed_hash::PrecomputedHash;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::MatchingContext;
use selectors::matching::ElementSelectorFlags;
use selectors::parser::{NonTSPseudoClass, PseudoElement, SelectorImpl};
use selectors::{Element, OpaqueElement};

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Bytes of an attribute value that are compared in one step.
const BYTES_PER_STEP: usize = 32;

/// The page, and the steps left for it.
pub(super) struct Tree<'a> {
    dom: &'a Dom,
    steps: Cell<u64>,
    /// Previous sibling element of each node, 0 for none; made for the first selector that needs it.
    previous: OnceCell<Vec<NodeId>>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(dom: &'a Dom, steps: u64) -> Tree<'a> {
        Tree {
            dom,
            steps: Cell::new(steps),
            previous: OnceCell::new(),
        }
    }

    pub(super) fn dom(&self) -> &'a Dom {
        self.dom
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }

    fn previous(&self, id: NodeId) -> NodeId {
        let previous = self.previous.get_or_init(|| {
            let mut last_child = vec![0; self.dom.nodes.len()];
            let mut previous = vec![0; self.dom.nodes.len()];
            for id in (1..self.dom.len()).filter(|&id| self.dom.tag(id) != Tag::Text) {
                let last = &mut last_child[self.dom.parent(id) as usize];
                previous[id as usize] = std::mem::replace(last, id);
            }
            previous
        });
        previous[id as usize]
    }
}

/// An element of a page.
#[derive(Clone, Copy)]
pub(super) struct PageElement<'a> {
    pub(super) tree: &'a Tree<'a>,
    pub(super) id: NodeId,
}

impl fmt::Debug for PageElement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}> {}", self.tree.dom.name(self.id), self.id)
    }
}

impl<'a> PageElement<'a> {
    /// Takes the steps for work on `bytes`; returns false when none are left.
    fn spend(&self, bytes: usize) -> bool {
        let left = self.tree.steps.get();
        self.tree
            .steps
            .set(left.saturating_sub(1 + (bytes / BYTES_PER_STEP) as u64));
        left > 0
    }

    fn at(&self, id: NodeId) -> Option<PageElement<'a>> {
        (id != 0).then_some(PageElement { id, ..*self })
    }

    fn first_element_from(&self, start: NodeId, end: NodeId) -> Option<PageElement<'a>> {
        let dom = self.tree.dom;
        let mut at = start;
        while at < end && self.spend(0) {
            if dom.tag(at) != Tag::Text {
                return self.at(at);
            }
            at = dom.end(at);
        }
        None
    }
}

impl Element for PageElement<'_> {
    type Impl = PageSelectors;

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.tree.dom.node(self.id))
    }

    fn parent_element(&self) -> Option<Self> {
        self.spend(0).then(|| self.at(self.tree.dom.parent(self.id)))?
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.spend(0).then(|| self.at(self.tree.previous(self.id)))?
    }

    fn next_sibling_element(&self) -> Option<Self> {
        let dom = self.tree.dom;
        self.first_element_from(dom.end(self.id), dom.end(dom.parent(self.id)))
    }

    fn first_element_child(&self) -> Option<Self> {
        self.first_element_from(self.id + 1, self.tree.dom.end(self.id))
    }

    fn is_html_element_in_html_document(&self) -> bool {
        true
    }

    fn has_local_name(&self, name: &Name) -> bool {
        self.spend(0) && self.tree.dom.name(self.id).eq_ignore_ascii_case(&name.0)
    }

    fn has_namespace(&self, _namespace: &Name) -> bool {
        true
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.tree.dom.name(self.id) == self.tree.dom.name(other.id)
    }

    fn attr_matches(
        &self,
        _namespace: &NamespaceConstraint<&Name>,
        name: &Name,
        operation: &AttrSelectorOperation<&Name>,
    ) -> bool {
        let attributes = self.tree.dom.attributes(self.id).len();
        if !self.spend(attributes) {
            return false;
        }
        let Some(value) = self.tree.dom.attr_named(self.id, &name.0) else {
            return false;
        };
        let compared = match operation {
            AttrSelectorOperation::Exists => 0,
            AttrSelectorOperation::WithValue {
                case_sensitivity: CaseSensitivity::CaseSensitive,
                ..
            } => value.len(),
            // The comparison may start again at every byte.
            AttrSelectorOperation::WithValue { value: wanted, .. } => {
                value.len().saturating_mul(wanted.0.len())
            }
        };
        self.spend(compared) && operation.eval_str(value)
    }

    fn match_non_ts_pseudo_class(&self, class: &Unsupported, _: &mut MatchingContext<PageSelectors>) -> bool {
        match *class {}
    }

    fn match_pseudo_element(&self, element: &Unsupported, _: &mut MatchingContext<PageSelectors>) -> bool {
        match *element {}
    }

    fn apply_selector_flags(&self, _flags: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        false
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &Name, case: CaseSensitivity) -> bool {
        self.spend(0)
            && self
                .tree
                .dom
                .attr(self.id, attr::ID)
                .is_some_and(|own| case.eq(own.as_bytes(), id.0.as_bytes()))
    }

    fn has_class(&self, class: &Name, case: CaseSensitivity) -> bool {
        let dom = self.tree.dom;
        self.spend(dom.attr(self.id, attr::CLASS).map_or(0, str::len))
            && dom
                .classes(self.id)
                .any(|own| case.eq(own.as_bytes(), class.0.as_bytes()))
    }

    fn has_custom_state(&self, _name: &Name) -> bool {
        false
    }

    fn imported_part(&self, _name: &Name) -> Option<Name> {
        None
    }

    fn is_part(&self, _name: &Name) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        self.tree.dom.below(self.id).is_empty()
    }

    fn is_root(&self) -> bool {
        self.tree.dom.parent(self.id) == 0
    }

    fn add_element_unique_hashes(&self, _filter: &mut BloomFilter) -> bool {
        false
    }
}

/// The selectors that apply to pages: no namespaces, no state, no pseudo-elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageSelectors;

impl SelectorImpl for PageSelectors {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Name;
    type Identifier = Name;
    type LocalName = Name;
    type NamespaceUrl = Name;
    type NamespacePrefix = Name;
    type BorrowedNamespaceUrl = Name;
    type BorrowedLocalName = Name;
    type NonTSPseudoClass = Unsupported;
    type PseudoElement = Unsupported;
}

/// A name or value in a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name(Box<str>);

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name(text.into())
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PrecomputedHash for Name {
    /// Feeds only the Bloom filters, which are not used here.
    fn precomputed_hash(&self) -> u32 {
        0
    }
}

impl ToCss for Name {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        cssparser::serialize_identifier(&self.0, out)
    }
}

/// Pseudo-classes of state and pseudo-elements: none is supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unsupported {}

impl ToCss for Unsupported {
    fn to_css<W: fmt::Write>(&self, _out: &mut W) -> fmt::Result {
        match *self {}
    }
}

impl NonTSPseudoClass for Unsupported {
    fn is_active_or_hover(&self) -> bool {
        match *self {}
    }

    fn is_user_action_state(&self) -> bool {
        match *self {}
    }
}

impl PseudoElement for Unsupported {}
