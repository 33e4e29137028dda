//! Responses that violate the standard but that browsers accept. Each row has the bytes and what curl 7.88
//! (`--compressed`), Chromium 156 (the DOM, while the server closes 0.7 s later) and the fetcher make of them.

use harvestman_fetch::FetchRequest;

use crate::server::{Server, ServerAction, fetcher, get};

/// What a client makes of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadResult {
    /// This is the complete body.
    Whole(&'static str),
    /// This part of the body, reported as incomplete.
    Part(&'static str),
    /// Undecoded bytes.
    Garbage,
    /// An error.
    Refused,
}

use ReadResult::{Garbage, Part, Refused, Whole};

/// Name, bytes of the response, and the results of curl, Chromium and the fetcher.
type Row = (&'static str, &'static [u8], ReadResult, ReadResult, ReadResult);

const PAGE: ReadResult = Whole("<p>whole</p>");
const BEGUN: ReadResult = Part("<p>whole</p>");

#[rustfmt::skip]
const HEADS: &[Row] = &[
    ("a control character in a cookie", b"HTTP/1.1 200 OK\r\nSet-Cookie: a=\x01b\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("bytes above ASCII in a cookie", b"HTTP/1.1 200 OK\r\nSet-Cookie: a=\xff\xfe\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a lone CR in a value", b"HTTP/1.1 200 OK\r\nX-Bad: a\rb\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("NUL in a value", b"HTTP/1.1 200 OK\r\nSet-Cookie: a=\0b\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, Refused, Refused),
    ("NUL in a name", b"HTTP/1.1 200 OK\r\nX-\0: b\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, Refused, Refused),
    ("a line without a colon", b"HTTP/1.1 200 OK\r\nno colon here\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("an empty name", b"HTTP/1.1 200 OK\r\n: nothing\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a space in a name", b"HTTP/1.1 200 OK\r\nbad name: x\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a byte above ASCII in a name", b"HTTP/1.1 200 OK\r\nX-\xe4: x\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("folded lines", b"HTTP/1.1 200 OK\r\nX-Fold: a\r\n b\r\n\tc\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a folded line without a first one", b"HTTP/1.1 200 OK\r\n folded\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("a folded length", b"HTTP/1.1 200 OK\r\nX-After: kept\r\nContent-Length:\r\n 12\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("space before the colon", b"HTTP/1.1 200 OK\r\nX-After\t: kept\r\nContent-Length : 12\r\n\r\n<p>whole</p>more", Whole("<p>whole</p>more"), PAGE, PAGE),
    ("no reason", b"HTTP/1.1 200\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a space and no reason", b"HTTP/1.1 200 \r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("bytes above ASCII in the reason", b"HTTP/1.1 200 \xc4h\xff\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a control character in the reason", b"HTTP/1.1 200 a\x01b\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("several spaces in the status line", b"HTTP/1.1  200  OK\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a version in lower case", b"http/1.1 200 ok\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a later version", b"HTTP/2.0 200 OK\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("an unknown version", b"HTTP/9.9 200 OK\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("half a version", b"HTTP/1 200 OK\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("a status of four digits", b"HTTP/1.1 2000 OK\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, PAGE, Refused),
    ("a status of letters", b"HTTP/1.1 abc OK\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, PAGE, Refused),
    ("an empty line before the head", b"\r\nHTTP/1.1 200 OK\r\nX-After: kept\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("bare LF", b"HTTP/1.1 200 OK\nX-After: kept\nContent-Length: 12\n\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("LF and CRLF", b"HTTP/1.1 200 OK\r\nX-Before: yes\nX-After: kept\r\nContent-Length: 12\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("two places to go to", b"HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", Whole(""), Refused, Refused),
    ("HTTP/0.9", b"<p>whole</p>", Refused, Refused, Refused),
];

#[rustfmt::skip]
const FRAMES: &[Row] = &[
    ("bytes behind the body", b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<p>whole</p><p>extra</p>", PAGE, PAGE, PAGE),
    ("an answer behind the body", b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<p>whole</p>HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", PAGE, PAGE, PAGE),
    ("a short body", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<p>whole</p>", BEGUN, BEGUN, BEGUN),
    ("a body without its last byte", b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<p>whole</p>", BEGUN, BEGUN, BEGUN),
    ("a length without a body", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", Refused, Refused, Refused),
    ("a negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("a length with a sign", b"HTTP/1.1 200 OK\r\nContent-Length: +12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a length in letters", b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("a length with a tail", b"HTTP/1.1 200 OK\r\nContent-Length: 12x\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("an empty length", b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("a length beyond all numbers", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("the same length twice", b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("the same length twice on a line", b"HTTP/1.1 200 OK\r\nContent-Length: 12, 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 5\r\n\r\n<p>whole</p>", Whole("<p>wh"), Refused, Refused),
    ("two lengths on a line", b"HTTP/1.1 200 OK\r\nContent-Length: 12, 5\r\n\r\n<p>whole</p>", PAGE, Refused, Refused),
    ("two lengths, one bad", b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: x\r\n\r\n<p>whole</p>", Refused, Refused, Refused),
    // Rejected although browsers accept it: ambiguous framing enables response smuggling.
    ("a length and chunks", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>whole</p>\r\n0\r\n\r\n", PAGE, PAGE, Refused),
    ("a bad length and chunks", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>whole</p>\r\n0\r\n\r\n", Refused, PAGE, Refused),
    ("a length and another transfer coding", b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nTransfer-Encoding: identity\r\n\r\n<p>whole</p>more", Whole("<p>whole</p>more"), PAGE, Refused),
    ("chunks of HTTP/1.0", b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>whole</p>\r\n0\r\n\r\n", PAGE, Whole("c\r\n<p>whole</p>\r\n0\r\n\r\n"), Refused),
    ("bare LF around chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\n<p>whole</p>\n0\n\n", PAGE, PAGE, Refused),
    // From here on, the framing is unambiguous.
    ("an unknown transfer coding", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("chunks with extensions", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc;a=b\r\n<p>whole</p>\r\n0\r\n\r\n", PAGE, PAGE, PAGE),
    ("spaces behind the size of a chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc  \r\n<p>whole</p>\r\n0\r\n\r\n", PAGE, PAGE, PAGE),
    ("no last chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>whole</p>\r\n", BEGUN, BEGUN, BEGUN),
    ("half a last chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>whole</p>\r\n0\r\n", BEGUN, BEGUN, BEGUN),
    ("half a chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n<p>whole</p>", BEGUN, BEGUN, BEGUN),
    ("a bad size of a chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>whole</p>\r\nxyz\r\nmore\r\n", BEGUN, Refused, BEGUN),
    ("a chunk longer than its size", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n<p>whole</p>more\r\n0\r\n\r\n", BEGUN, Refused, BEGUN),
];

#[rustfmt::skip]
const CODINGS: &[Row] = &[
    // Chromium shows nothing and curl reports an error; the fetcher reads the actual content.
    ("gzip that is plain", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, Refused, PAGE),
    ("deflate that is plain", b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, Refused, PAGE),
    ("br that is plain", b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, Refused, PAGE),
    ("zstd that is plain", b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, Refused, PAGE),
    ("gzip announced twice, done once", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Length: 32\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00\x09a\x8aA\x0c\x00\x00\x00", Refused, Refused, PAGE),
    ("gzip announced twice on a line, done once", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 32\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00\x09a\x8aA\x0c\x00\x00\x00", Refused, Refused, PAGE),
    ("gzip announced twice, done twice", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Length: 49\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x93\xef\xe6`\x00\x01&\xe6\xcd\x9a\x1b\xb4\xcf\x9f8\xef\xb9\xf5\xa2\xfe\x06f\x06\xce\xc4.G\x1e\xa08\x00\xb7\xdc\xd2\xd2 \x00\x00\x00", PAGE, PAGE, PAGE),
    ("identity and gzip", b"HTTP/1.1 200 OK\r\nContent-Encoding: identity, gzip\r\nContent-Length: 32\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00\x09a\x8aA\x0c\x00\x00\x00", PAGE, Garbage, PAGE),
    ("deflate in the format of zlib", b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 20\r\n\r\nx\x9c\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00\x1b\xac\x04#", PAGE, PAGE, PAGE),
    ("bare deflate", b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 14\r\n\r\n\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00", PAGE, PAGE, PAGE),
    ("no coding by the name of none", b"HTTP/1.1 200 OK\r\nContent-Encoding: none\r\nContent-Length: 12\r\n\r\n<p>whole</p>", PAGE, PAGE, PAGE),
    ("a charset for a coding", b"HTTP/1.1 200 OK\r\nContent-Encoding: utf-8\r\nContent-Length: 12\r\n\r\n<p>whole</p>", Refused, PAGE, PAGE),
    ("gzip without half its footer", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 28\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00\x09a\x8aA", PAGE, PAGE, BEGUN),
    ("gzip with a bad checksum", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 32\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00\x00\x00\x00\x00\x0c\x00\x00\x00", BEGUN, PAGE, BEGUN),
    ("gzip with bytes behind it", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 38\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00\x09a\x8aA\x0c\x00\x00\x00\x00\x00junk", BEGUN, PAGE, PAGE),
    ("gzip in a short body", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3)\xb0+\xcf\xc8\xcfI\xb5\xd1/\xb0\x03\x00\x09a\x8aA\x0c\x00\x00\x00", BEGUN, BEGUN, BEGUN),
    ("nothing in gzip", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", Whole(""), Whole(""), Whole("")),
];

async fn check(rows: &[Row]) {
    for (name, bytes, _curl, _chromium, expected) in rows {
        let server = Server::with(|| ServerAction::Close(bytes.to_vec())).await;
        let request = FetchRequest {
            keep_partial: true,
            ..get(server.url("/"))
        };
        let result = fetcher().fetch(request.clone()).await;
        match *expected {
            Whole(body) => {
                let response = result.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                assert_eq!(
                    (&response.body[..], response.incomplete),
                    (body.as_bytes(), None),
                    "{name}"
                );
                let is_marked = bytes.windows(7).any(|seven| seven == b"X-After");
                assert_eq!(response.headers.contains_key("x-after"), is_marked, "{name}");
            }
            Part(body) => {
                let response = result.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                let fault = response
                    .incomplete
                    .unwrap_or_else(|| panic!("{name} is not whole"));
                assert_eq!(response.body, body, "{name}");
                // Without `keep_partial`, the reason is an error.
                let whole = FetchRequest {
                    keep_partial: false,
                    ..request
                };
                assert_eq!(fetcher().fetch(whole).await.unwrap_err(), fault, "{name}");
            }
            Refused => {
                let error = result.expect_err(name);
                assert_eq!(error.code().as_str(), "SCRAPE_SITE_ERROR", "{name}: {error:?}");
            }
            Garbage => panic!("{name}: the fetcher never gives out undecoded bytes"),
        }
    }
}

#[tokio::test]
async fn valid_header_lines_count_despite_invalid_ones() {
    let server = Server::start(|seen| match seen.path() {
        "/" => ServerAction::Keep(
            b"HTTP/1.1  302\nSet-Cookie: bad=\x01\nbad line\nSet-Cookie: good=1\nX: a\rb\nLocation : /next\nContent-Length: 0\n\n".into(),
        ),
        _ => ServerAction::Keep(
            b"HTTP/1.1 200\r\nX-Fold: a\r\n b\r\n\tc\r\nX-High: \xe4\r\nContent-Length: 2\r\n\r\nok".into(),
        ),
    })
    .await;
    let fetcher = fetcher();
    for _ in 0..2 {
        let response = fetcher.fetch(get(server.url("/"))).await.unwrap();
        assert_eq!(response.body, "ok");
        let fold = response.headers["x-fold"].to_str().unwrap();
        assert_eq!(fold.split_whitespace().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(response.headers["x-high"].as_bytes(), b"\xe4");
    }
    assert_eq!(server.requests()[1].header("cookie"), Some("good=1"));
    assert_eq!(
        server.connections(),
        1,
        "a repaired response keeps its connection"
    );
}

#[tokio::test]
async fn a_body_with_an_invalid_length_closes_its_connection() {
    let server =
        Server::with(|| ServerAction::Close(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok".into())).await;
    let fetcher = fetcher();
    for count in 1..=2 {
        assert_eq!(fetcher.fetch(get(server.url("/"))).await.unwrap().body, "ok");
        assert_eq!(server.connections(), count);
    }
}

#[tokio::test]
async fn heads_are_parsed_as_in_browsers() {
    check(HEADS).await;
}

#[tokio::test]
async fn bodies_are_framed_as_in_browsers() {
    check(FRAMES).await;
}

#[tokio::test]
async fn wrongly_announced_codings_are_detected() {
    check(CODINGS).await;
}
