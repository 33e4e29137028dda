//! Serves a folder of documentation over HTTP/1.1, as a plain web server does, with a delay per response.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use crate::site::read_head;

/// A folder that is served until it is dropped.
pub(crate) struct DocsFolder {
    address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

impl DocsFolder {
    /// Serves `folder` with this delay before each response.
    pub(crate) async fn serve(folder: PathBuf, latency: Duration) -> io::Result<DocsFolder> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let folder: Arc<Path> = folder.into();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve_connection(stream, folder.clone(), latency));
            }
        });
        Ok(DocsFolder {
            address,
            _task: AbortOnDropHandle::new(task),
        })
    }

    /// Returns the URL of the folder.
    pub(crate) fn start(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// Serves the requests of one connection in turn.
async fn serve_connection(mut stream: TcpStream, folder: Arc<Path>, latency: Duration) {
    let _ = stream.set_nodelay(true);
    let mut request = Vec::with_capacity(1024);
    loop {
        let Some(end) = read_head(&mut stream, &mut request).await else {
            return;
        };
        let head = String::from_utf8_lossy(&request[..end]);
        let target = head.split(' ').nth(1).unwrap_or_default();
        let response = respond(&folder, target.split(['?', '#']).next().unwrap_or_default());
        request.drain(..end);
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        if stream.write_all(&response).await.is_err() {
            return;
        }
    }
}

/// Returns the complete response for a path.
fn respond(folder: &Path, path: &str) -> Vec<u8> {
    let file = file_of(folder, path);
    let found = file.and_then(|file| Some((content_type(&file), std::fs::read(&file).ok()?)));
    let (status, kind, body) = match found {
        Some((kind, body)) => ("200 OK", kind, body),
        None => ("404 Not Found", "text/plain", b"not found".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat()
}

/// Returns the file of a path below the folder; the `index.html` of a folder.
fn file_of(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let relative = Path::new(path.strip_prefix('/')?);
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !relative.components().all(is_below) {
        return None;
    }
    let file = folder.join(relative);
    if path.ends_with('/') {
        return Some(file.join("index.html"));
    }
    file.is_file().then_some(file)
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => "text/html; charset=utf-8",
        Some("xml") => "application/xml",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("pdf") => "application/pdf",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_folder_are_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let body = String::from_utf8(respond(folder, "/Cargo.toml")).unwrap();
        assert!(body.starts_with("HTTP/1.1 200 ") && body.contains("harvestman-tests"));
        for path in [
            "/../Cargo.toml", "/%2e%2e/Cargo.toml", "/bench", "/none", "Cargo.toml", "/bench/",
        ] {
            assert!(respond(folder, path).starts_with(b"HTTP/1.1 404 "), "{path}");
        }
    }
}
