//! Negotiation of the content coding by `Accept-Encoding` (RFC 9110 section 12.5.3).

use axum::http::HeaderValue;

/// Content coding that the web build stores next to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Coding {
    /// Brotli.
    Brotli,
    /// Gzip.
    Gzip,
}

impl Coding {
    /// Returns the name in `Content-Encoding`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Gzip => "gzip",
        }
    }

    /// Returns the file extension of the stored file.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Gzip => "gz",
        }
    }
}

/// Returns the codings that `Accept-Encoding` accepts; the one with smaller files first.
pub(super) fn codings(header: Option<&HeaderValue>) -> Vec<Coding> {
    let list = header.and_then(|value| value.to_str().ok()).unwrap_or_default();
    [Coding::Brotli, Coding::Gzip]
        .into_iter()
        .filter(|coding| accepts(list, coding.name()))
        .collect()
}

fn accepts(list: &str, name: &str) -> bool {
    let wanted = |wanted: &str| {
        list.split(',').find_map(|entry| {
            let (coding, parameters) = entry.split_once(';').unwrap_or((entry, ""));
            coding
                .trim()
                .eq_ignore_ascii_case(wanted)
                .then(|| !is_zero(parameters))
        })
    };
    wanted(name).or_else(|| wanted("*")).unwrap_or(false)
}

fn is_zero(parameters: &str) -> bool {
    let weight = parameters
        .trim()
        .strip_prefix("q=")
        .and_then(|q| q.trim().parse::<f32>().ok());
    weight == Some(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_follow_the_header() {
        let check = |list: &'static str, expected: &[Coding]| {
            assert_eq!(codings(Some(&HeaderValue::from_static(list))), expected, "{list}");
        };
        check("gzip, deflate, br, zstd", &[Coding::Brotli, Coding::Gzip]);
        check("gzip;q=1.0, br;q=0", &[Coding::Gzip]);
        check("*", &[Coding::Brotli, Coding::Gzip]);
        check("*;q=0, GZIP", &[Coding::Gzip]);
        check("identity", &[]);
        assert_eq!(codings(None), []);
    }
}
