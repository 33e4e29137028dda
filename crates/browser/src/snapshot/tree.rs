//! The accessibility tree in the browser's format (`Accessibility.getFullAXTree`).

use std::collections::HashMap;
use std::fmt::Formatter;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::limits;

/// A node of the tree.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AxNode {
    node_id: String,
    #[serde(default)]
    pub(super) ignored: bool,
    role: Option<AxValue>,
    name: Option<AxValue>,
    value: Option<AxValue>,
    #[serde(default)]
    properties: Vec<Property>,
    #[serde(default)]
    child_ids: Vec<String>,
    #[serde(rename = "backendDOMNodeId")]
    pub(super) backend: Option<i64>,
}

#[derive(Deserialize, Debug)]
struct AxValue {
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize, Debug)]
struct Property {
    name: String,
    value: AxValue,
}

/// The nodes of one frame.
#[derive(Debug, Default)]
pub(crate) struct AxTree {
    nodes: Vec<AxNode>,
    index_by_id: HashMap<String, usize>,
}

#[derive(Deserialize)]
struct TreeResponse {
    nodes: Nodes,
}

/// The first nodes of a list.
struct Nodes(Vec<AxNode>);

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FirstNodes)
    }
}

struct FirstNodes;

impl<'de> Visitor<'de> for FirstNodes {
    type Value = Nodes;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Nodes, A::Error> {
        let mut nodes = Vec::new();
        while nodes.len() < limits::SNAPSHOT_NODES {
            match list.next_element()? {
                Some(node) => nodes.push(node),
                None => return Ok(Nodes(nodes)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Nodes(nodes))
    }
}

impl AxTree {
    /// Parses the response, at most [`limits::SNAPSHOT_NODES`] nodes; empty if it is invalid.
    pub(crate) fn read(response: &str) -> AxTree {
        let nodes = serde_json::from_str(response).map_or(Vec::new(), |TreeResponse { nodes }| nodes.0);
        let index_by_id = nodes
            .iter()
            .enumerate()
            .map(|(at, node)| (node.node_id.clone(), at))
            .collect();
        AxTree { nodes, index_by_id }
    }

    /// Returns the first node: the document.
    pub(super) fn root(&self) -> Option<&AxNode> {
        self.nodes.first()
    }

    pub(super) fn children<'a>(&'a self, node: &'a AxNode) -> impl Iterator<Item = &'a AxNode> {
        node.child_ids
            .iter()
            .filter_map(|id| Some(&self.nodes[*self.index_by_id.get(id)?]))
    }
}

impl AxNode {
    pub(super) fn role(&self) -> &str {
        let role = self.role.as_ref().and_then(|role| role.value.as_str());
        role.unwrap_or("none")
    }

    pub(super) fn name(&self) -> String {
        to_text(self.name.as_ref()).unwrap_or_default()
    }

    pub(super) fn value(&self) -> Option<String> {
        to_text(self.value.as_ref())
    }

    pub(super) fn property(&self, name: &str) -> Option<&Value> {
        let found = self.properties.iter().find(|property| property.name == name);
        found.map(|property| &property.value.value)
    }

    /// Returns whether the element is editable, or focusable although its role does not say so.
    pub(super) fn takes_input(&self) -> bool {
        let editable = self.property("editable").and_then(Value::as_str);
        let is_settable = self.property("settable") == Some(&Value::Bool(true)) && editable.is_some();
        let focusable = self.property("focusable") == Some(&Value::Bool(true));
        is_settable || (focusable && self.role() == "generic")
    }
}

fn to_text(value: Option<&AxValue>) -> Option<String> {
    match &value?.value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
