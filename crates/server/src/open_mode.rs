//! Protects a server without keys from web pages in the operator's browser. Loopback keeps other machines away, but not
//! a page that sends requests to `localhost`, or to a name of its own that resolves to loopback (DNS rebinding).

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use harvestman_core::api::error::ErrorCode;
use url::{Host, Url};

use crate::app::App;
use crate::cluster::ForwardedRequest;
use crate::error::Failure;

/// In open mode, refuses requests to the API whose `Host` or `Origin` is neither loopback nor the public URL's host.
pub(crate) async fn refuse_other_hosts(State(app): State<App>, request: Request, next: Next) -> Response {
    let guarded = app.open_mode().is_some() && !app.config().insecure && is_api(request.uri().path());
    // The node that forwarded a request has checked it.
    if guarded && request.extensions().get::<ForwardedRequest>().is_none() {
        let public = app.config().public_url.as_deref().and_then(host);
        if let Err(failure) = check(&request, public.as_ref()) {
            return failure.into_response();
        }
    }
    next.run(request).await
}

fn is_api(path: &str) -> bool {
    path == "/mcp" || path.starts_with("/v2/") || path.starts_with("/console/api/")
}

/// Checks the host of `Origin`, and the host that the request is for. Clients that are not browsers send no `Origin`.
fn check(request: &Request, public: Option<&Host>) -> Result<(), Failure> {
    let allowed = |host: Option<Host>| host.is_some_and(|host| is_loopback(&host) || Some(&host) == public);
    let fields = |name| {
        request
            .headers()
            .get_all(name)
            .iter()
            .map(|value| value.to_str().unwrap_or_default())
    };
    for origin in fields(header::ORIGIN) {
        if !allowed(host(origin)) {
            let message = format!(
                "a server without keys refuses requests from web pages of `{origin}`; open the page at \
                 localhost, or use keys"
            );
            return Err(Failure::new(ErrorCode::Forbidden, message));
        }
    }
    let authority = request.uri().authority().map(|authority| authority.as_str());
    for name in authority.into_iter().chain(fields(header::HOST)) {
        if !allowed(host(&format!("http://{name}"))) {
            let message = format!(
                "a server without keys refuses requests for the host `{name}`; use localhost, or set \
                 HARVESTMAN_PUBLIC_URL to the URL that clients use"
            );
            return Err(Failure::new(ErrorCode::Forbidden, message));
        }
    }
    Ok(())
}

fn host(url: &str) -> Option<Host> {
    Url::parse(url).ok()?.host().map(|host| host.to_owned())
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_the_public_host_are_allowed() {
        let public = host("https://hm.example/base");
        let allowed = |name: &'static str, value: &str| {
            let request = Request::builder()
                .header(name, value)
                .body(axum::body::Body::empty());
            check(&request.unwrap(), public.as_ref()).is_ok()
        };
        for name in [
            "localhost", "app.localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]", "hm.example",
        ] {
            assert!(allowed("host", name), "{name}");
            assert!(allowed("host", &format!("{name}:3002")), "{name}");
            assert!(allowed("origin", &format!("http://{name}:3002")), "{name}");
        }
        for name in [
            "evil.test", "localhost.evil.test", "notlocalhost", "10.0.0.1", "0.0.0.0", "[::]", "",
        ] {
            assert!(!allowed("host", name), "{name}");
            assert!(!allowed("origin", &format!("https://{name}")), "{name}");
        }
        assert!(!allowed("origin", "null"));
        assert!(!allowed("origin", "chrome-extension://abc"));
    }
}
