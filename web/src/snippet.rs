//! The request as a command line. Only what differs from the defaults is in it; the key is a shell
//! variable, never the key itself.

/// A curl command for a body, which is pretty-printed JSON.
pub fn curl(origin: &str, path: &str, body: &str, with_key: bool) -> String {
    let mut text = format!("curl {origin}{path} \\\n");
    if with_key {
        text.push_str("  -H \"Authorization: Bearer $HARVESTMAN_API_KEY\" \\\n");
    }
    text.push_str("  -H \"Content-Type: application/json\" \\\n  -d '");
    let quoted = body.replace('\'', "'\\''");
    for (index, line) in quoted.lines().enumerate() {
        if index > 0 {
            text.push_str("\n  ");
        }
        text.push_str(line);
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_in_the_body_does_not_end_the_argument() {
        let text = curl(
            "http://localhost:3002",
            "/v2/scrape",
            "{\n  \"url\": \"https://e.com/o'neil\"\n}",
            true,
        );
        assert_eq!(
            text,
            "curl http://localhost:3002/v2/scrape \\\n  -H \"Authorization: Bearer $HARVESTMAN_API_KEY\" \\\n  \
             -H \"Content-Type: application/json\" \\\n  -d '{\n    \"url\": \"https://e.com/o'\\''neil\"\n  }'"
        );
    }

    #[test]
    fn without_a_key_no_header_is_sent() {
        assert!(!curl("http://h", "/v2/crawl", "{}", false).contains("Authorization"));
    }
}
