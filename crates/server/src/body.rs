//! Reads request bodies, bounded in size and in the time between two parts. The content type is ignored (docs/API.md
//! section 1).

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use futures_util::StreamExt;
use harvestman_core::api::error::ErrorCode;
use tokio::time::timeout;

use crate::app::App;
use crate::error::Failure;
use crate::limits;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Complete JSON body of a request, at most 10 MiB.
#[derive(Debug)]
pub struct WholeBody(pub Bytes);

impl FromRequest<App> for WholeBody {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        read_json(app, &parts.headers, body).await.map(WholeBody)
    }
}

/// Reads a JSON body of at most 10 MiB.
///
/// # Errors
/// As for [`read`].
pub(crate) async fn read_json(app: &App, headers: &HeaderMap, body: Body) -> Result<Bytes, Failure> {
    let bytes = read(headers, body, limits::BODY_BYTES, app.body_silence()).await?;
    Ok(without_byte_order_mark(bytes))
}

/// Removes a byte order mark, which a JSON parser may ignore (RFC 8259 section 8.1).
pub(crate) fn without_byte_order_mark(json: Bytes) -> Bytes {
    match json.starts_with(BYTE_ORDER_MARK) {
        true => json.slice(BYTE_ORDER_MARK.len()..),
        false => json,
    }
}

/// Reads a body of at most `most` bytes.
///
/// # Errors
/// 413 for a larger body without reading the rest, 408 when no data arrive for `silence`, 400 for a body that ends early.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    silence: Duration,
) -> Result<Bytes, Failure> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most as u64) {
        return Err(too_large(most));
    }
    let mut stream = body.into_data_stream();
    let mut body = Vec::with_capacity(announced.unwrap_or(0).min(64 * 1024) as usize);
    loop {
        let part = timeout(silence, stream.next()).await.map_err(|_| {
            let message = format!("no request body data arrived for {} s", silence.as_secs_f32());
            Failure::new(ErrorCode::RequestTimeout, message)
        })?;
        match part {
            None => return Ok(body.into()),
            Some(Err(error)) => {
                let message = format!("cannot read the request body: {error}");
                return Err(Failure::bad_request(message));
            }
            Some(Ok(part)) if body.len() + part.len() > most => {
                return Err(too_large(most));
            }
            Some(Ok(part)) => body.extend_from_slice(&part),
        }
    }
}

fn too_large(most: usize) -> Failure {
    let message = format!("the request body is larger than {most} bytes");
    Failure::new(ErrorCode::PayloadTooLarge, message)
}
