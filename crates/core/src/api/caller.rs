//! Fields that clients add to requests on their own (docs/API.md sections 1 and 3): some are stored with the activity
//! row, and those that ask for a service of the hosted product are refused by name.

use harvestman_derive::Request;
use serde_json::{Map, Value};

use crate::api::fields::{Field, FieldType, Fields, Schema, wire};
use crate::api::wire_enum::wire_enum;
use crate::limits::MAX_SHORT_TEXT_CHARS;

wire_enum! {
    /// Amount of detail about the tools that `domainTools` finds, which this server does not offer.
    ToolDetail {
        /// Little detail.
        Compact = "compact",
        /// A summary.
        Summary = "summary",
        /// All details.
        Full = "full",
    }
}

/// Information that the caller gives about itself.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
#[request(
    check = Self::read_accepted,
    accepted = Self::accepted,
    unavailable("domainTools", "checkPromptInjection", "safeMode")
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

/// User who is accountable for a request.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct AuditMetadata {
    /// Name of the user in the caller's system.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS)]
    pub username: Option<String>,
}

wire!(AuditMetadata);

impl Caller {
    /// Returns the name of the user who is accountable for the request.
    pub fn username(&self) -> Option<String> {
        self.audit_metadata.as_ref()?.username.clone()
    }

    /// Returns the fields that [`Self::read_accepted`] reads.
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

    /// Refuses what only the hosted product offers. Values that ask for nothing are accepted.
    fn read_accepted(&mut self, fields: &mut Fields) {
        let mock = fields.value::<String>("useMock", 0..=MAX_SHORT_TEXT_CHARS);
        if mock.is_some_and(|mock| mock != "none") {
            fields.fail(
                "useMock",
                "must be `none` or left out: this server has no mock pages",
            );
        }
        fields.value::<ToolDetail>("toolDetail", ());
        let protection = fields.value::<Map<String, Value>>("threatProtection", ());
        let is_off = |protection: &Map<String, Value>| {
            protection
                .get("mode")
                .map_or(protection.is_empty(), |mode| mode == "off")
        };
        if protection.is_some_and(|protection| !is_off(&protection)) {
            fields.fail(
                "threatProtection",
                "must have the mode `off` or be left out: this server does not check URLs for threats",
            );
        }
    }
}
