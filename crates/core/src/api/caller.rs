//! Fields that clients send by themselves (contract sections 1 and 3): accepted, stored with the
//! activity row where that is said, without any other effect.

use crate::api::body::Body;
use crate::api::fields::Fields;
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

/// Who sent a request, as it says itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Caller {
    /// Program that made the request.
    pub origin: Option<String>,
    /// Integration that made the request.
    pub integration: Option<String>,
    /// `auditMetadata.username`.
    pub audit_username: Option<String>,
}

impl Caller {
    /// Reads `origin` and `integration`, which every body may carry.
    pub(crate) fn read(fields: &mut Fields) -> Self {
        Self {
            origin: fields.opt_string("origin", 0..=MAX_SHORT_TEXT_CHARS),
            integration: fields.opt_string("integration", 0..=MAX_SHORT_TEXT_CHARS),
            audit_username: None,
        }
    }

    /// Reads also what is accepted wherever a scrape option is.
    pub(crate) fn read_with_extras(fields: &mut Fields) -> Self {
        let caller = Self::read(fields);
        fields.opt_bool("fastMode");
        fields.opt_string("useMock", 0..=MAX_SHORT_TEXT_CHARS);
        fields.opt_bool("domainTools");
        fields.opt_word::<ToolDetail>("toolDetail");
        fields.opt_map("threatProtection");
        fields.opt_bool("checkPromptInjection");
        fields.opt_bool("safeMode");
        let audit = fields.opt_object("auditMetadata", |f| {
            f.opt_string("username", 0..=MAX_SHORT_TEXT_CHARS)
        });
        Self {
            audit_username: audit.flatten(),
            ..caller
        }
    }

    /// What an inner object (`scrapeOptions`) says where this one says nothing.
    pub(crate) fn or(self, inner: Caller) -> Self {
        Self {
            origin: self.origin.or(inner.origin),
            integration: self.integration.or(inner.integration),
            audit_username: self.audit_username.or(inner.audit_username),
        }
    }

    pub(crate) fn write(&self, body: &mut Body) {
        body.some("origin", &self.origin);
        body.some("integration", &self.integration);
        if let Some(username) = &self.audit_username {
            let mut audit = Body::default();
            audit.put("username", username);
            body.put("auditMetadata", &audit);
        }
    }
}
