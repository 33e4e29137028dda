//! Scraping one page: checks whether this server supports the options ([`check_supported`], before any
//! fetch), and renders the fetched bytes to a document ([`render()`], with the feature `render`).

#[cfg(feature = "render")]
mod browser_need;
#[cfg(feature = "render")]
pub mod changes;
#[cfg(feature = "render")]
mod clean;
#[cfg(feature = "render")]
mod derived;
#[cfg(feature = "render")]
mod file;
#[cfg(feature = "render")]
mod frames;
#[cfg(feature = "render")]
pub(crate) mod highlights;
#[cfg(feature = "render")]
mod kind;
#[cfg(feature = "render")]
pub mod model;
#[cfg(feature = "render")]
mod offers;
#[cfg(feature = "render")]
pub(crate) mod passages;
#[cfg(feature = "render")]
mod render;
#[cfg(feature = "render")]
mod selectors;
#[cfg(feature = "render")]
mod summary;

#[cfg(feature = "render")]
pub use browser_need::{BrowserReason, Certainty, EngineReason, browser_added, browser_need, pending};
#[cfg(feature = "files")]
pub use file::read_and_render;
#[cfg(feature = "render")]
pub use file::{Upload, content_type_of, file_request, parse_formats, prepare_file, render_file};
#[cfg(feature = "render")]
pub use frames::FramedPage;
#[cfg(feature = "files")]
pub use harvestman_content::files::read as read_file;
#[cfg(feature = "render")]
pub use harvestman_content::files::{
    FileDocument, FileError, FilePage, FileRequest, FileType, Scan, ScanRequest,
};
#[cfg(feature = "render")]
pub use harvestman_content::{RenderSignals, consent_selectors, refresh_target, undeclared_charset};
#[cfg(feature = "render")]
pub use render::{Fill, RawPage, RenderedPage, prepare, prepare_with, render};

use crate::api::action::Action;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::format::{ChangeMode, Format, FormatKind, QueryMode};
use crate::api::options::ScrapeOptions;

/// Optional backends that the operator has configured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Capabilities {
    /// A browser is available.
    pub browser: bool,
    /// A language model is available.
    pub model: bool,
}

/// Rejects options that this server cannot fulfil, before anything is fetched.
///
/// # Errors
/// 400 for actions without a browser and for invalid selectors, 503 for a backend that is not configured.
pub fn check_supported(options: &ScrapeOptions, capabilities: &Capabilities) -> Result<(), ApiError> {
    check_selectors(options)?;
    // Check what a browser cannot change first, so that the error is the same with and without one.
    let with_browser = Capabilities {
        browser: true,
        ..*capabilities
    };
    for format in &options.formats {
        check_format(format, &with_browser)?;
    }
    check_redaction(options)?;
    if !capabilities.browser {
        check_browser(options)?;
    }
    options
        .formats
        .iter()
        .try_for_each(|format| check_format(format, capabilities))
}

/// Rejects results that `redactPII` cannot change: pictures and raw bytes.
fn check_redaction(options: &ScrapeOptions) -> Result<(), ApiError> {
    let is_picture = |action: &Action| matches!(action, Action::Screenshot(_) | Action::Pdf { .. });
    let result = match options {
        _ if options.redact_pii.is_none() => return Ok(()),
        _ if options.wants(FormatKind::Screenshot) => "the format `screenshot`",
        _ if options.wants(FormatKind::RawBase64) => "the format `rawBase64`",
        _ if options.actions.iter().any(is_picture) => "actions that make screenshots and PDFs",
        _ => return Ok(()),
    };
    Err(ApiError::new(
        ErrorCode::BadRequest,
        format!(
            "`redactPII` cannot remove personal data from pictures or raw bytes; remove {result}, or remove `redactPII`."
        ),
    ))
}

/// Returns whether only a browser can fulfil the options.
pub fn needs_browser(options: &ScrapeOptions) -> bool {
    !options.actions.is_empty()
        || options.wait_for > 0
        || options.mobile
        || options.profile.is_some()
        || options
            .formats
            .iter()
            .any(|format| matches!(format, Format::Screenshot(_) | Format::Branding))
}

fn check_browser(options: &ScrapeOptions) -> Result<(), ApiError> {
    if !options.actions.is_empty() {
        return Err(ApiError::new(
            ErrorCode::ActionsNotSupported,
            "`actions` need a browser, and none is configured on this server; omit them.",
        ));
    }
    let option = match options {
        _ if options.wait_for > 0 => "waitFor",
        _ if options.mobile => "mobile",
        _ if options.profile.is_some() => "profile",
        _ => return Ok(()),
    };
    Err(ApiError::new(
        ErrorCode::NotConfigured,
        format!("`{option}` needs a browser, and none is configured on this server; omit it."),
    ))
}

fn check_format(format: &Format, capabilities: &Capabilities) -> Result<(), ApiError> {
    let Some(need) = missing_backend(format, capabilities) else {
        return Ok(());
    };
    let message = format!(
        "The format `{}` needs {need}, which is not configured on this server; remove it from `formats`.",
        format.kind()
    );
    Err(ApiError::new(ErrorCode::NotConfigured, message))
}

/// Returns what a format needs beyond these backends, such as "a browser"; `None` if it needs nothing more.
pub fn missing_backend(format: &Format, capabilities: &Capabilities) -> Option<&'static str> {
    match format {
        Format::Branding | Format::Screenshot(_) if !capabilities.browser => Some("a browser"),
        _ if capabilities.model => None,
        Format::Question { .. }
        | Format::Query {
            mode: QueryMode::Freeform,
            ..
        } => Some("a language model"),
        // With a schema, data stated on the page can be used.
        Format::Json(json) if json.schema.is_none() => Some("a `schema` or a language model"),
        Format::ChangeTracking(tracking)
            if tracking.modes.contains(&ChangeMode::Json) && tracking.schema.is_none() =>
        {
            Some("a `schema` for its mode `json`, or a language model")
        }
        _ => None,
    }
}

#[cfg(feature = "render")]
fn check_selectors(options: &ScrapeOptions) -> Result<(), ApiError> {
    selectors::selection(options)?;
    selectors::check_attribute_selectors(options)
}

/// Leaves the check to the server: this build has no HTML parser.
#[cfg(not(feature = "render"))]
fn check_selectors(_options: &ScrapeOptions) -> Result<(), ApiError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: &str, capabilities: Capabilities, expected: Option<(ErrorCode, &str)>) {
        let options = ScrapeOptions::from_json(options.as_bytes()).unwrap();
        match (check_supported(&options, &capabilities), expected) {
            (Ok(()), None) => {}
            (Err(error), Some((code, word))) => {
                assert_eq!(error.code, code, "{error}");
                assert!(error.message.contains(word), "{error}");
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn unsupported_options_are_rejected_before_any_fetch() {
        use ErrorCode::{ActionsNotSupported, BadRequest, NotConfigured};
        let none = Capabilities::default();
        let browser = Capabilities {
            browser: true,
            ..none
        };
        let model = Capabilities { model: true, ..none };
        for options in [
            "{}",
            r#"{"formats":["markdown","html","rawHtml","links","images"],"proxy":"enhanced"}"#,
            r#"{"formats":[{"type":"attributes","selectors":[{"selector":"a","attribute":"href"}]}]}"#,
            r#"{"formats":["summary",{"type":"highlights","query":"x"}]}"#,
            r#"{"formats":[{"type":"query","prompt":"x","mode":"directQuote"}]}"#,
            r#"{"formats":["markdown",{"type":"changeTracking","modes":["git-diff"]}]}"#,
            r#"{"formats":["markdown",{"type":"json","schema":{}},{"type":"changeTracking","modes":["json"],"schema":{}}]}"#,
            r#"{"redactPII":true}"#,
        ] {
            check(options, none, None);
        }
        let actions = r#"{"actions":[{"type":"wait","milliseconds":5}],"waitFor":5}"#;
        for options in [
            actions,
            r#"{"formats":["screenshot"]}"#,
            r#"{"formats":["branding","product","menu","rawBase64"]}"#,
        ] {
            check(options, browser, None);
        }
        check(
            r#"{"formats":[{"type":"json","prompt":"x"},{"type":"question","question":"?"},{"type":"query","prompt":"x"}]}"#,
            model,
            None,
        );
        check(actions, none, Some((ActionsNotSupported, "actions")));
        for (options, word) in [
            (r#"{"waitFor":5}"#, "waitFor"),
            (r#"{"mobile":true}"#, "mobile"),
            (r#"{"profile":{"name":"a"}}"#, "profile"),
            (r#"{"formats":["screenshot"]}"#, "a browser"),
            (r#"{"formats":["branding"]}"#, "branding"),
            (r#"{"formats":[{"type":"query","prompt":"x"}]}"#, "model"),
            (r#"{"formats":[{"type":"question","question":"?"}]}"#, "model"),
            (
                r#"{"formats":["markdown",{"type":"changeTracking","modes":["json"]}]}"#,
                "`json`",
            ),
            (r#"{"formats":[{"type":"json","prompt":"x"}]}"#, "`schema`"),
        ] {
            check(options, none, Some((NotConfigured, word)));
        }
        for (options, word) in [
            (r#"{"redactPII":true,"formats":["rawBase64"]}"#, "rawBase64"),
            (r#"{"redactPII":true,"formats":["screenshot"]}"#, "redactPII"),
            (r#"{"redactPII":true,"actions":[{"type":"pdf"}]}"#, "PDFs"),
        ] {
            for capabilities in [none, browser] {
                check(options, capabilities, Some((BadRequest, word)));
            }
        }
    }

    #[cfg(feature = "render")]
    #[test]
    fn invalid_selectors_are_reported_with_their_path() {
        let options = ScrapeOptions::from_json(br#"{"includeTags":["article","a[["]}"#).unwrap();
        let error = check_supported(&options, &Capabilities::default()).unwrap_err();
        assert_eq!(error.status(), 400);
        assert_eq!(
            error.details.unwrap()[0]["path"],
            serde_json::json!(["includeTags", 1])
        );
    }
}
