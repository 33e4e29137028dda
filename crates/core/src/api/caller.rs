//! Fields that clients add to requests on their own (docs/API.md sections 1 and 3): some are stored with the activity
//! row, and those that ask for a service of the hosted product have no effect, which a warning says.

use harvestman_derive::Request;
use serde_json::{Map, Value};

use crate::api::fields::{Fields, wire};
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
    /// Search for tools that act on a site. True gets a warning.
    #[field(hidden)]
    pub domain_tools: bool,
    /// Detail of the tools that `domain_tools` finds.
    #[field(hidden)]
    pub tool_detail: Option<ToolDetail>,
    /// Search pages for instructions to language models. True gets a warning.
    #[field(hidden)]
    pub check_prompt_injection: bool,
    /// Browse with fewer risks. True gets a warning.
    #[field(hidden)]
    pub safe_mode: bool,
    /// Name of a recorded page; a name gets a warning, `none` counts as absent.
    #[field(bounds = 0..=MAX_SHORT_TEXT_CHARS, read = read_mock, hidden)]
    pub use_mock: Option<String>,
    /// How URLs are checked for threats. Gets a warning; `{}` and the `mode` `off` count as absent.
    #[field(read = read_protection, hidden)]
    pub threat_protection: Option<Map<String, Value>>,
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

    /// Returns the same caller without the services that it asks for, for a part of a request that has warned already.
    pub fn without_services(&self) -> Self {
        Self {
            origin: self.origin.clone(),
            integration: self.integration.clone(),
            audit_metadata: self.audit_metadata.clone(),
            ..Self::default()
        }
    }

    /// Returns the warning about each service of the hosted product that the request asks for.
    pub fn warning(&self) -> Option<String> {
        let requested = [
            ("domainTools", self.domain_tools),
            ("checkPromptInjection", self.check_prompt_injection),
            ("safeMode", self.safe_mode),
            ("useMock", self.use_mock.is_some()),
            ("threatProtection", self.threat_protection.is_some()),
        ];
        let warnings: Vec<String> = requested
            .iter()
            .filter(|(_, requested)| *requested)
            .map(|(name, _)| format!("`{name}` had no effect: it is a service of the hosted product."))
            .collect();
        (!warnings.is_empty()).then(|| warnings.join(" "))
    }
}

fn read_mock(fields: &mut Fields) -> Option<String> {
    let mock = fields.value::<String>("useMock", 0..=MAX_SHORT_TEXT_CHARS)?;
    (mock != "none").then_some(mock)
}

fn read_protection(fields: &mut Fields) -> Option<Map<String, Value>> {
    let protection = fields.value::<Map<String, Value>>("threatProtection", ())?;
    let is_on = protection
        .get("mode")
        .map_or(!protection.is_empty(), |mode| mode != "off");
    is_on.then_some(protection)
}
