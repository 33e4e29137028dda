//! Fields that clients send by themselves (docs/API.md sections 1 and 3): accepted, stored with the
//! activity row where that is said, without any other effect.

use harvestman_derive::Request;
use serde_json::{Map, Value};

use crate::api::fields::{Field, FieldType, Fields, Schema, wire};
use crate::api::wire_enum::wire_enum;
use crate::limits::MAX_SHORT_TEXT_CHARS;

wire_enum! {
    /// How much a tool wants back; no effect here.
    ToolDetail {
        /// Little.
        Compact = "compact",
        /// Some.
        Summary = "summary",
        /// Everything.
        Full = "full",
    }
}

/// What the caller states about itself.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
#[request(
    check = Self::take_inner,
    accepted = Self::accepted,
    ignored("fastMode", "domainTools", "checkPromptInjection", "safeMode")
)]
pub struct Caller {
    /// Program that made the request.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, hidden)]
    pub origin: Option<String>,
    /// Integration that made the request.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, hidden)]
    pub integration: Option<String>,
    /// Who is accountable for the request.
    #[field(hidden)]
    pub audit_metadata: Option<AuditMetadata>,
}

/// Who is accountable for a request.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct AuditMetadata {
    /// Name of the user in the caller's system.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS)]
    pub username: Option<String>,
}

wire!(AuditMetadata);

impl Caller {
    /// Returns the fields that are read and dropped.
    fn accepted() -> Vec<Field> {
        let hidden = |name, schema| Field {
            hidden: true,
            ..Field::new(name, "", schema)
        };
        vec![
            hidden("useMock", Schema::Text(0..=MAX_SHORT_TEXT_CHARS)),
            hidden("toolDetail", ToolDetail::schema(())),
            hidden("threatProtection", Map::<String, Value>::schema(())),
        ]
    }

    /// Reads what other clients send and this server has no use for, and fills gaps with the caller that an inner
    /// object (`scrapeOptions`) names.
    fn take_inner(&mut self, fields: &mut Fields) {
        fields.opt_string("useMock", 0..=MAX_SHORT_TEXT_CHARS);
        fields.opt_word::<ToolDetail>("toolDetail");
        fields.opt_map("threatProtection");
        if let Some(inner) = fields.inner_caller.take() {
            *self = std::mem::take(self).or(inner);
        }
    }

    fn or(self, inner: Caller) -> Self {
        Self {
            origin: self.origin.or(inner.origin),
            integration: self.integration.or(inner.integration),
            audit_metadata: self.audit_metadata.or(inner.audit_metadata),
        }
    }
}
