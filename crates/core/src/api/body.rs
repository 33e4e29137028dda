//! Serialization of request bodies: only fields that differ from their defaults, in the order of the
//! documentation. Used by the client, for stored requests and for code snippets.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};
use url::Url;
use uuid::Uuid;

use crate::ids::JobId;

/// JSON value whose objects keep the order of their fields.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    /// Value whose inner order does not matter.
    Value(Value),
    /// Array.
    Array(Vec<Node>),
    /// Object.
    Object(Body),
}

/// JSON object under construction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body(Vec<(&'static str, Node)>);

/// Type that can be serialized into a request body.
pub trait ToNode {
    /// Returns the value as JSON.
    fn to_node(&self) -> Node;

    /// Returns the value as JSON with every option of an object, including those at their default.
    fn to_filled(&self) -> Node {
        self.to_node()
    }
}

impl Body {
    /// Appends a field.
    pub fn push(&mut self, name: &'static str, node: Node) {
        self.0.push((name, node));
    }

    /// Appends a field with this value.
    pub fn put<T: ToNode + ?Sized>(&mut self, name: &'static str, value: &T) {
        self.0.push((name, value.to_node()));
    }

    /// Appends a field unless its value is the default.
    pub fn differs<T: ToNode + PartialEq>(&mut self, name: &'static str, value: &T, default: &T) {
        if value != default {
            self.put(name, value);
        }
    }

    /// Appends a field if it has a value.
    pub fn some<T: ToNode>(&mut self, name: &'static str, value: &Option<T>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Appends a list, map or string unless it is empty.
    pub fn filled<T: ToNode + Default + PartialEq>(&mut self, name: &'static str, value: &T) {
        self.differs(name, value, &T::default());
    }

    /// Converts the body to plain JSON, which does not keep the order.
    pub fn into_map(self) -> Map<String, Value> {
        match serde_json::to_value(&self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }

    /// Appends the fields of another body.
    pub fn extend(&mut self, other: Body) {
        self.0.extend(other.0);
    }

    /// Returns the body without the named fields.
    pub fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|(name, _)| !names.contains(name));
        self
    }

    /// Returns whether the body has no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fields in order.
    pub fn fields(&self) -> &[(&'static str, Node)] {
        &self.0
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, node) in &self.0 {
            map.serialize_entry(name, node)?;
        }
        map.end()
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Value(value) => value.serialize(serializer),
            Node::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Node::Object(body) => body.serialize(serializer),
        }
    }
}

macro_rules! plain {
    ($($type:ty),+) => {
        $(impl ToNode for $type {
            fn to_node(&self) -> Node { Node::Value(Value::from(self.clone())) }
        })+
    };
}

plain!(bool, u16, u32, u64, f64, String);

impl ToNode for str {
    fn to_node(&self) -> Node {
        Node::Value(Value::from(self))
    }
}

impl ToNode for Value {
    fn to_node(&self) -> Node {
        Node::Value(self.clone())
    }
}

impl ToNode for Url {
    fn to_node(&self) -> Node {
        self.as_str().to_node()
    }
}

impl ToNode for Body {
    fn to_node(&self) -> Node {
        Node::Object(self.clone())
    }
}

impl<T: ToNode> ToNode for Box<T> {
    fn to_node(&self) -> Node {
        self.as_ref().to_node()
    }
}

/// `None` is an explicit null.
impl<T: ToNode> ToNode for Option<T> {
    fn to_node(&self) -> Node {
        self.as_ref().map_or(Node::Value(Value::Null), ToNode::to_node)
    }
}

impl<T: ToNode> ToNode for Vec<T> {
    fn to_node(&self) -> Node {
        Node::Array(self.iter().map(ToNode::to_node).collect())
    }
}

impl ToNode for BTreeMap<String, String> {
    fn to_node(&self) -> Node {
        Node::Value(
            self.iter()
                .map(|(k, v)| (k.clone(), Value::from(v.clone())))
                .collect(),
        )
    }
}

impl ToNode for Map<String, Value> {
    fn to_node(&self) -> Node {
        Node::Value(Value::Object(self.clone()))
    }
}

impl ToNode for Uuid {
    fn to_node(&self) -> Node {
        self.to_string().to_node()
    }
}

impl ToNode for JobId {
    fn to_node(&self) -> Node {
        self.0.to_node()
    }
}
