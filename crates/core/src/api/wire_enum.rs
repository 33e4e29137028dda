//! Closed sets of words in requests and responses: one list defines the enum, its spelling and its parser.

pub use crate::api::fields::WireEnum;

/// Declares an enum of words with `WireEnum`, `Display`, `Serialize` and `Deserialize`.
macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Returns the word of the value as it is sent.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// Parses a word; the spelling must be exact.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }
        }

        impl $crate::api::wire_enum::WireEnum for $name {
            const ALL: &'static [Self] = &[$($name::$variant),+];
            const WORDS: &'static [&'static str] = &[$($text),+];
            fn as_str(self) -> &'static str { $name::as_str(self) }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| {
                    serde::de::Error::custom(format!("unknown {} `{text}`", stringify!($name)))
                })
            }
        }

        #[cfg(feature = "openapi")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words = <$name as $crate::api::wire_enum::WireEnum>::WORDS;
                schemars::json_schema!({ "type": "string", "enum": words })
            }
        }

        impl $crate::api::body::ToNode for $name {
            fn to_node(&self) -> $crate::api::body::Node {
                $crate::api::body::ToNode::to_node(self.as_str())
            }
        }

        impl $crate::api::fields::FieldType for $name {
            type Bounds = ();

            fn schema((): ()) -> $crate::api::fields::Schema {
                $crate::api::fields::Schema::Word(<$name as $crate::api::wire_enum::WireEnum>::WORDS)
            }

            fn from_slot(slot: $crate::api::fields::Slot<'_>, (): ()) -> Option<Self> {
                slot.word()
            }

            fn placeholder() -> Self {
                <$name as $crate::api::wire_enum::WireEnum>::ALL[0]
            }
        }
    };
}

pub(crate) use wire_enum;
