//! Generated files such as screenshots. Anyone who knows the name can fetch them until they expire (docs/API.md
//! section 4.2).

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::Failure;

pub(crate) async fn file(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Failure> {
    let token = name.split('.').next().unwrap_or_default();
    let file = app
        .store()
        .file(token, harvestman_engine::now())
        .await?
        .ok_or_else(|| Failure::not_found("no such file; it may have expired"))?;
    let headers = [
        (header::CONTENT_TYPE, file.content_type),
        // Prevents the content from running scripts.
        (header::CONTENT_SECURITY_POLICY, "sandbox".to_owned()),
        (
            header::CACHE_CONTROL,
            "private, max-age=86400, immutable".to_owned(),
        ),
    ];
    Ok((headers, file.bytes).into_response())
}
