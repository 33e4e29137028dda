//! Content security policy of the console's pages. Inline blocks of the page are allowed by their hashes; no other
//! inline code is.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Sets the security headers for a page with these bytes.
pub(super) fn protect(headers: &mut HeaderMap, page: &[u8]) {
    let policy = policy(&String::from_utf8_lossy(page));
    let policy = HeaderValue::from_str(&policy).expect("the policy is ASCII without line ends");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
}

fn policy(page: &str) -> String {
    let scripts = sources(inline(page, "script"));
    let styles = sources(inline(page, "style"));
    format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'{scripts}; style-src 'self'{styles}; \
         img-src 'self' data: blob:; frame-src 'self'; object-src 'none'; base-uri 'none'; \
         frame-ancestors 'none'"
    )
}

fn sources<'a>(blocks: impl Iterator<Item = &'a str>) -> String {
    blocks
        .map(|block| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(block.as_bytes()))))
        .collect()
}

/// Returns the text of every `<name>` element without a `src`. The input is our own build and need not be parsed
/// defensively.
fn inline<'a>(page: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let lower = page.to_ascii_lowercase();
    let (open, close) = (format!("<{name}"), format!("</{name}"));
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + lower[at..].find(&open)?;
            let body = start + lower[start..].find('>')? + 1;
            let end = body + lower[body..].find(&close)?;
            at = end;
            let attributes = &lower[start + open.len()..body - 1];
            let is_element =
                attributes.is_empty() || attributes.starts_with(|c: char| c.is_ascii_whitespace());
            if is_element && !attributes.contains("src=") {
                return Some(&page[body..end]);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_returns_inline_blocks_and_skips_linked_ones() {
        let page = "<html><style>a{}</style><script type=\"module\">\nimport init;\n</script>\
                    <SCRIPT src=\"/x.js\"></SCRIPT><scripture>no</scripture><script>second</script>";
        assert_eq!(
            inline(page, "script").collect::<Vec<_>>(),
            ["\nimport init;\n", "second"]
        );
        assert_eq!(inline(page, "style").collect::<Vec<_>>(), ["a{}"]);
    }

    #[test]
    fn the_policy_allows_inline_scripts_by_hash_and_never_unsafe_inline() {
        let policy = policy("<script>alert(1)</script>");
        let hash = "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='";
        assert!(
            policy.contains(&format!("script-src 'self' 'wasm-unsafe-eval' {hash};")),
            "{policy}"
        );
        assert!(
            !policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"),
            "{policy}"
        );
        for part in [
            "default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{part}");
        }
    }
}
