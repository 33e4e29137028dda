//! Uploaded files: `POST /v2/parse`, `GET /v2/parse/formats`, and uploads by URL (docs/API.md sections 7.3 to 7.5).

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Request, State};
use axum::http::header;
use harvestman_core::api::console::SuccessResponse;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::parse::{ParseOptions, ParseUploadRequest, UploadUrlRequest};
use harvestman_core::api::scrape::ScrapeResponse;
use harvestman_core::api::team::Data;
use harvestman_core::ids::TeamId;
use harvestman_core::limits::MAX_UPLOAD_BYTES;
use harvestman_core::scrape::parse_formats;
use harvestman_engine::UploadedFile;
use tokio::time::timeout;

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::upload_permits::UploadPermit;
use crate::{body, limits};

/// Body of a request that needs a file.
pub(crate) enum UploadBody {
    /// A form with the file, and its part `options`.
    Form(UploadedFile, Option<Bytes>),
    /// JSON with `uploadRef`.
    Reference(Bytes),
}

pub(crate) async fn start(Caller { app, principal }: Caller, request: Request) -> HandlerResult {
    let (_permit, body) = read_upload(&app, principal.team, request).await?;
    let (file, options) = match body {
        UploadBody::Form(file, None) => (file, ParseOptions::default()),
        UploadBody::Form(file, Some(options)) => (file, ParseOptions::from_json(&options)?),
        UploadBody::Reference(body) => {
            let request = ParseUploadRequest::from_json(&body)?;
            // An invalid request must not use up the reference.
            app.engine().check_parse(&request.options)?;
            let file = app
                .engine()
                .uploaded_file(&principal, &request.upload.upload_ref)
                .await?;
            (file, request.options)
        }
    };
    let document = app.engine().parse(&principal, file, options).await?;
    json(&ScrapeResponse::done(document))
}

pub(crate) async fn formats(State(app): State<App>) -> HandlerResult {
    json(&parse_formats(app.engine().recognizes_text()))
}

pub(crate) async fn upload_url(
    Caller { app, principal }: Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = UploadUrlRequest::from_json(&body)?;
    let reserved = app.engine().reserve_upload(&principal, request, &base).await?;
    json(&Data::new(reserved))
}

pub(crate) async fn upload(
    State(app): State<App>,
    Path(token): Path<String>,
    request: Request,
) -> HandlerResult {
    let team = app.engine().check_upload(&token).await?;
    let _permit = app.upload_permits().acquire(team).await?;
    let (parts, body) = request.into_parts();
    let read = body::read(&parts.headers, body, MAX_UPLOAD_BYTES, app.body_silence());
    let bytes = timeout(limits::UPLOAD_TIME, read).await.map_err(|_| slow())??;
    app.engine().receive_upload(&token, bytes).await?;
    json(&SuccessResponse { success: true })
}

/// Reads a form with a file, or JSON with a reference. The permit is held while the file is in memory.
pub(crate) async fn read_upload(
    app: &App,
    team: TeamId,
    request: Request,
) -> Result<(UploadPermit, UploadBody), Failure> {
    let permit = app.upload_permits().acquire(team).await?;
    let body = timeout(limits::UPLOAD_TIME, read_body(app, request))
        .await
        .map_err(|_| slow())??;
    Ok((permit, body))
}

async fn read_body(app: &App, request: Request) -> Result<UploadBody, Failure> {
    let (parts, body) = request.into_parts();
    let kind = parts
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    if kind.starts_with("multipart/form-data") {
        return read_form(app, Request::from_parts(parts, body)).await;
    }
    let bytes = body::read_json(app, &parts.headers, body).await?;
    let is_reference =
        serde_json::from_slice::<serde_json::Value>(&bytes).is_ok_and(|body| body.get("uploadRef").is_some());
    match is_reference {
        true => Ok(UploadBody::Reference(bytes)),
        false => Err(Failure::bad_request(
            "send multipart/form-data with a part `file` and an optional part `options`, or JSON with `uploadRef`",
        )),
    }
}

/// Reads the parts `file` and `options`; others are ignored (docs/API.md section 3).
async fn read_form(app: &App, request: Request) -> Result<UploadBody, Failure> {
    let mut form = form(app, request).await?;
    let (mut file, mut options) = (None, None);
    while let Some(field) = form.next_field().await.map_err(|error| unreadable_form(&error))? {
        match field.name() {
            Some("file") if file.is_some() => {
                return Err(Failure::bad_request(
                    "the form has several parts `file`; send one",
                ));
            }
            Some("file") => file = Some(read_file(field).await?),
            Some("options") => {
                let read = field.bytes().await.map_err(|error| unreadable_form(&error))?;
                options = Some(body::without_byte_order_mark(read));
            }
            _ => {}
        }
    }
    let file = file.ok_or_else(|| Failure::bad_request("the part `file` with a file name is required"))?;
    Ok(UploadBody::Form(file, options))
}

async fn form(app: &App, request: Request) -> Result<Multipart, Failure> {
    let (parts, body) = request.into_parts();
    let max_bytes = MAX_UPLOAD_BYTES + limits::UPLOAD_SLACK_BYTES;
    let bytes = match body::read(&parts.headers, body, max_bytes, app.body_silence()).await {
        Err(Failure(error)) if error.code == ErrorCode::PayloadTooLarge => return Err(too_large()),
        read => read?,
    };
    let mut request = Request::from_parts(parts, Body::from(bytes));
    DefaultBodyLimit::max(max_bytes).apply(&mut request);
    Multipart::from_request(request, app)
        .await
        .map_err(|error| Failure::bad_request(format!("cannot read the form: {}", error.body_text())))
}

async fn read_file(field: Field<'_>) -> Result<UploadedFile, Failure> {
    let name = field
        .file_name()
        .and_then(UploadedFile::clean_name)
        .ok_or_else(|| Failure::bad_request("the part `file` needs a file name"))?;
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

fn slow() -> Failure {
    Failure::new(ErrorCode::RequestTimeout, "the upload took too long")
}

fn too_large() -> Failure {
    Failure::bad_request(format!("the file is larger than {} MiB", MAX_UPLOAD_BYTES >> 20))
}

fn unreadable_form(error: &MultipartError) -> Failure {
    Failure::bad_request(format!("cannot read the form: {}", error.body_text()))
}
