//! Uploaded files: `POST /v2/parse`, `GET /v2/parse/formats` (docs/API.md sections 7.3 and 7.4).

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::header;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::scrape::ScrapeResponse;
use harvestman_core::limits::MAX_UPLOAD_BYTES;
use harvestman_core::scrape::parse_formats;
use harvestman_engine::UploadedFile;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::app::App;
use crate::auth::Caller;
use crate::error::{Failure, HandlerResult, json};
use crate::{body, limits};

/// Bounds the uploads that are held in memory at once.
static UPLOAD_PERMITS: Semaphore = Semaphore::const_new(limits::UPLOADS_AT_ONCE);

pub(crate) async fn start(
    State(app): State<App>,
    Caller(principal): Caller,
    request: Request,
) -> HandlerResult {
    let _permit = UPLOAD_PERMITS
        .acquire()
        .await
        .expect("the semaphore is never closed");
    let (file, options) = timeout(limits::UPLOAD_TIME, read_upload(&app, request))
        .await
        .map_err(|_| Failure::new(ErrorCode::RequestTimeout, "the upload took too long"))??;
    let document = app.engine().parse(&principal, file, options).await?;
    json(&ScrapeResponse::done(document))
}

pub(crate) async fn formats(State(app): State<App>) -> HandlerResult {
    json(&parse_formats(app.engine().recognizes_text()))
}

/// Reads the parts `file` and `options`; others are ignored (docs/API.md section 3).
async fn read_upload(app: &App, request: Request) -> Result<(UploadedFile, ParseOptions), Failure> {
    let mut form = form(app, request).await?;
    let mut file = None;
    let mut options = ParseOptions::default();
    while let Some(field) = form.next_field().await.map_err(|error| unreadable_form(&error))? {
        match field.name() {
            Some("file") if file.is_some() => {
                return Err(bad_request("the form has several parts `file`; send one"));
            }
            Some("file") => file = Some(read_file(field).await?),
            Some("options") => {
                let text = field.bytes().await.map_err(|error| unreadable_form(&error))?;
                options = ParseOptions::from_json(&text)?;
            }
            _ => {}
        }
    }
    let file = file.ok_or_else(|| bad_request("the part `file` with a file name is required"))?;
    Ok((file, options))
}

async fn form(app: &App, request: Request) -> Result<Multipart, Failure> {
    let (parts, body) = request.into_parts();
    let kind = parts
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_form = kind.starts_with("multipart/form-data");
    let max_bytes = match is_form {
        true => MAX_UPLOAD_BYTES + limits::UPLOAD_SLACK_BYTES,
        false => limits::BODY_BYTES,
    };
    let bytes = match body::read(&parts.headers, body, max_bytes, app.body_silence()).await {
        Err(Failure(error)) if error.code == ErrorCode::PayloadTooLarge => return Err(too_large()),
        read => read?,
    };
    if !is_form {
        return Err(not_a_form(&bytes));
    }
    let mut request = Request::from_parts(parts, Body::from(bytes));
    DefaultBodyLimit::max(max_bytes).apply(&mut request);
    Multipart::from_request(request, app)
        .await
        .map_err(|error| bad_request(&format!("cannot read the form: {}", error.body_text())))
}

async fn read_file(field: Field<'_>) -> Result<UploadedFile, Failure> {
    let name = field
        .file_name()
        .map(base_name)
        .filter(|name| !name.is_empty())
        .ok_or_else(|| bad_request("the part `file` needs a file name"))?;
    let content_type = field.content_type().map(str::to_owned);
    let body = field.bytes().await.map_err(|error| unreadable_form(&error))?;
    if body.len() > MAX_UPLOAD_BYTES {
        return Err(too_large());
    }
    Ok(UploadedFile {
        name,
        content_type,
        body,
    })
}

/// Returns the last part of a path without control characters. It is displayed, never used as a path.
fn base_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars()
        .filter(|c| !c.is_control())
        .take(limits::FILE_NAME_CHARS)
        .collect::<String>()
        .trim()
        .to_owned()
}

/// Returns the error for a body that is not a form; uploads by reference get their own error.
fn not_a_form(body: &Bytes) -> Failure {
    let by_reference =
        serde_json::from_slice::<serde_json::Value>(body).is_ok_and(|body| body.get("uploadRef").is_some());
    match by_reference {
        true => Failure::new(
            ErrorCode::NotSupported,
            "this server does not support uploads by `uploadRef`; send the file as multipart/form-data",
        ),
        false => bad_request("send multipart/form-data with a part `file` and an optional part `options`"),
    }
}

fn bad_request(message: &str) -> Failure {
    Failure::new(ErrorCode::BadRequest, message)
}

fn too_large() -> Failure {
    bad_request(&format!("the file is larger than {} MiB", MAX_UPLOAD_BYTES >> 20))
}

fn unreadable_form(error: &MultipartError) -> Failure {
    bad_request(&format!("cannot read the form: {}", error.body_text()))
}
