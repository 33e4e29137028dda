//! Models of `POST /v2/parse`, `GET /v2/parse/formats` and `POST /v2/parse/upload-url` (docs/API.md sections 7.3 to
//! 7.5).

use std::collections::BTreeMap;

use harvestman_derive::{Request, response};

use crate::api::body::{Body, ToNode};
use crate::api::caller::Caller;
use crate::api::crawl::EnabledOptions;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::fields::{Field, FieldType, Fields, Wire, wire};
use crate::api::format::FormatKind;
use crate::api::options::{Proxy, ScrapeOptions};
use crate::api::wire_enum::wire_enum;
use crate::limits::{
    DEFAULT_MAX_AGE_MS, DEFAULT_PARSE_TIMEOUT_MS, DEFAULT_SCRAPE_TIMEOUT_MS, MAX_FILE_NAME_CHARS,
    MAX_SHORT_TEXT_CHARS, MAX_UPLOAD_BYTES,
};
use crate::time::Timestamp;

const ZERO_DATA_RETENTION: &str = "zeroDataRetention";

/// Part `options` of `POST /v2/parse`.
#[derive(Clone, PartialEq, Debug)]
pub struct ParseOptions {
    /// Parts of the file to return. The timeout is that of parsing.
    pub options: ScrapeOptions,
    /// Store nothing once the response is sent. The operator must enable it.
    pub zero_data_retention: bool,
    /// Information that the caller gives about itself.
    pub caller: Caller,
}

impl Default for ParseOptions {
    fn default() -> Self {
        let options = ScrapeOptions {
            timeout: DEFAULT_PARSE_TIMEOUT_MS,
            ..ScrapeOptions::default()
        };
        Self {
            options,
            zero_data_retention: false,
            caller: Caller::default(),
        }
    }
}

impl ParseOptions {
    /// Checks that the operator has enabled the requested options.
    ///
    /// # Errors
    /// 403 if an option is not enabled.
    pub fn check_enabled(&self, enabled: EnabledOptions) -> Result<(), ApiError> {
        enabled.check_zero_data_retention(self.zero_data_retention)
    }

    /// Checks that the options make sense for an upload.
    ///
    /// # Errors
    /// 400 `PARSE_UNSUPPORTED_OPTIONS` with the name of the option.
    pub fn check_allowed(&self) -> Result<(), ApiError> {
        let options = &self.options;
        let default = ScrapeOptions::default();
        let refused = [
            ("actions", !options.actions.is_empty()),
            ("waitFor", options.wait_for != default.wait_for),
            ("location", !options.location.is_default()),
            ("mobile", options.mobile),
            (
                "maxAge",
                options.max_age.is_some_and(|age| age != DEFAULT_MAX_AGE_MS),
            ),
            ("minAge", options.min_age.is_some()),
            ("storeInCache", !options.store_in_cache),
            ("lockdown", options.lockdown),
            ("profile", options.profile.is_some()),
            ("proxy", !matches!(options.proxy, Proxy::Auto | Proxy::Basic)),
        ];
        if let Some((name, _)) = refused.iter().find(|(_, refused)| *refused) {
            return Err(unsupported(format!(
                "`{name}` cannot be used with an uploaded file; leave it out."
            )));
        }
        for kind in [
            FormatKind::Screenshot,
            FormatKind::ChangeTracking,
            FormatKind::Branding,
        ] {
            if options.wants(kind) {
                let message =
                    format!("The format `{kind}` cannot be made from an uploaded file; leave it out.");
                return Err(unsupported(message));
            }
        }
        Ok(())
    }
}

fn unsupported(message: String) -> ApiError {
    ApiError::new(ErrorCode::ParseUnsupportedOptions, message)
}

impl Wire for ParseOptions {
    const NAME: &'static str = "ParseOptions";
    const SUMMARY: &'static str = "The part `options` of `POST /v2/parse`.";

    fn fields() -> Vec<Field> {
        let mut fields = ScrapeOptions::fields();
        if let Some(timeout) = fields.iter_mut().find(|field| field.name == "timeout") {
            timeout.default = Some(DEFAULT_PARSE_TIMEOUT_MS.to_node());
        }
        fields.push(Field {
            default: Some(false.to_node()),
            label: Some("Zero data retention"),
            group: Some("Retention"),
            ..Field::new(
                ZERO_DATA_RETENTION,
                "Store nothing once the response is sent. The operator must enable it.",
                bool::schema(()),
            )
        });
        fields.extend(Caller::fields());
        fields
    }

    fn read(fields: &mut Fields) -> Self {
        let has_timeout = fields.has("timeout");
        let mut options = ScrapeOptions::read(fields);
        if !has_timeout {
            options.timeout = DEFAULT_PARSE_TIMEOUT_MS;
        }
        Self {
            options,
            zero_data_retention: fields.value(ZERO_DATA_RETENTION, ()).unwrap_or_default(),
            caller: Caller::read(fields),
        }
    }

    fn write(&self, body: &mut Body) {
        // The default differs from that of a scrape.
        let timeout = self.options.timeout;
        let options = ScrapeOptions {
            timeout: DEFAULT_SCRAPE_TIMEOUT_MS,
            ..self.options.clone()
        };
        options.write(body);
        body.differs("timeout", &timeout, &DEFAULT_PARSE_TIMEOUT_MS);
        body.differs(ZERO_DATA_RETENTION, &self.zero_data_retention, &false);
        self.caller.write(body);
    }
}

/// Field of the requests that use a file that was uploaded before.
#[derive(Clone, PartialEq, Eq, Debug, Default, Request)]
pub struct UploadReference {
    /// `uploadRef` of `POST /v2/parse/upload-url`. It can be used once.
    #[field(
        required,
        bounds = 1..=MAX_SHORT_TEXT_CHARS,
        label = "Upload",
        example = r#""018f2f9e-0000-4000-8000-000000000001""#
    )]
    pub upload_ref: String,
}

/// JSON body of `POST /v2/parse`: converts a file that was uploaded before. The options are top-level fields.
#[derive(Clone, PartialEq, Debug, Request)]
pub struct ParseUploadRequest {
    /// File to use.
    #[field(flatten)]
    pub upload: UploadReference,
    /// Parts of the file to return.
    #[field(flatten)]
    pub options: ParseOptions,
}

/// Body of `POST /v2/parse/upload-url`.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct UploadUrlRequest {
    /// Name of the file.
    #[field(required, bounds = 1..=MAX_FILE_NAME_CHARS, label = "File name", example = r#""report.pdf""#)]
    pub filename: String,
    /// Content type of the file.
    #[field(bounds = 1..=MAX_SHORT_TEXT_CHARS, label = "Content type", example = r#""application/pdf""#)]
    pub content_type: Option<String>,
    /// Size of the file.
    #[field(bounds = 1..=MAX_UPLOAD_BYTES as u64, label = "Size", unit = "bytes", example = "48213")]
    pub declared_size_bytes: Option<u64>,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

wire!(ParseOptions, ParseUploadRequest, UploadUrlRequest);

/// Where to send a file, and how to refer to it afterwards.
#[response(Eq, Default)]
pub struct UploadUrl {
    /// URL that takes the file, once. It contains a token and needs no key.
    pub upload_url: String,
    /// Reference to the file, for one request of the team.
    pub upload_ref: String,
    /// Method of the transfer: `PUT`. Its body is the file.
    pub method: String,
    /// Headers of the transfer.
    pub headers: BTreeMap<String, String>,
    /// Time at which URL and reference expire.
    pub expires_at: Timestamp,
    /// Largest size of the file, bytes.
    pub max_size_bytes: u64,
}

/// Response of `GET /v2/parse/formats`.
#[response(Eq, Default)]
pub struct ParseFormats {
    /// Always true.
    pub success: bool,
    /// File formats.
    pub data: ParseFormatList,
}

/// File formats that the server knows.
#[response(Eq, Default)]
pub struct ParseFormatList {
    /// All known file formats.
    pub formats: Vec<ParseFormat>,
}

wire_enum! {
    /// Kind of a file.
    FileKind {
        /// Document with text.
        Document = "document",
        /// Image.
        Image = "image",
    }
}

/// File format.
#[response(Eq)]
pub struct ParseFormat {
    /// Name of the format, for example `pdf`.
    pub format: String,
    /// Kind of the file.
    pub kind: FileKind,
    /// File name extensions, each with a dot.
    #[serde(default)]
    pub extensions: Vec<String>,
    /// Content types.
    #[serde(default)]
    pub mime_types: Vec<String>,
    /// Whether this server can read it.
    #[serde(default)]
    pub available: bool,
}
