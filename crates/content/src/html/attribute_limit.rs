//! Drops surplus attributes before they reach the tokenizer, which compares each new attribute name with all
//! earlier ones of its tag (quadratic time). Ordinary pages pass unchanged.
//!
//! In any state (text, script, comment, quoted value), a tokenizer returns to plain text only at a `>`. So
//! one possible tag is searched for after each `>`, and a tag continues past a `>` only inside quotes: few
//! possible tags are tracked at a time, and the work is linear. Some of them are not tags (scripts compare
//! with `<` too). When one reaches the limit, the tokenizer is fed up to that point: inside a real tag it
//! emits nothing.

use crate::limits::ATTRIBUTES_PER_TAG;

/// Length between two `>` below which a tag without quotes cannot exceed the limit; most of a page is skipped
/// by this check.
const QUIET_BYTES: usize = ATTRIBUTES_PER_TAG;
/// Bytes fed at a time while no tag is tracked.
const CHUNK_BYTES: usize = 64 * 1024;

/// Receives the page.
pub(super) trait Feed {
    /// Receives the next piece of the page.
    fn feed(&mut self, piece: &str);
    /// Returns the number of tokens emitted so far, without errors.
    fn emitted(&self) -> usize;
    /// Returns true when the rest of the page is not needed.
    fn is_full(&self) -> bool;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Name,
    BeforeName,
    InName,
    AfterName,
    BeforeValue,
    Quoted(u8),
    Unquoted,
}

#[derive(Clone, Copy)]
struct TrackedTag {
    state: State,
    attributes: usize,
    /// If this is a tag, the tokenizer has emitted nothing since this position.
    since: usize,
    /// Start of a surplus attribute that is not confirmed yet.
    surplus: Option<usize>,
}

impl TrackedTag {
    /// Advances by one byte, which is never a `>`.
    fn step(&mut self, byte: u8, at: usize) {
        let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r');
        match self.state {
            State::Quoted(quote) => {
                if byte == quote {
                    self.state = State::BeforeName;
                }
            }
            State::Name if space || byte == b'/' => self.state = State::BeforeName,
            State::Name => {}
            State::BeforeName if space || byte == b'/' => {}
            State::AfterName if space => {}
            State::AfterName if byte == b'=' => self.state = State::BeforeValue,
            State::AfterName if byte == b'/' => self.state = State::BeforeName,
            State::BeforeName | State::AfterName => {
                self.attributes += 1;
                if self.attributes > ATTRIBUTES_PER_TAG && self.surplus.is_none() {
                    self.surplus = Some(at);
                }
                self.state = State::InName;
            }
            State::InName if byte == b'/' => self.state = State::BeforeName,
            State::InName if space => self.state = State::AfterName,
            State::InName if byte == b'=' => self.state = State::BeforeValue,
            State::InName => {}
            State::BeforeValue if space => {}
            State::BeforeValue if byte == b'"' || byte == b'\'' => self.state = State::Quoted(byte),
            State::BeforeValue => self.state = State::Unquoted,
            State::Unquoted if space => self.state = State::BeforeName,
            State::Unquoted => {}
        }
    }

    /// Advances by a segment between two `>`.
    fn advance(&mut self, segment: &[u8], at: usize) {
        let mut offset = 0;
        while offset < segment.len() {
            // Inside quotes only the closing quote matters.
            if let State::Quoted(quote) = self.state {
                match memchr::memchr(quote, &segment[offset..]) {
                    Some(n) => offset += n,
                    None => return,
                }
            }
            self.step(segment[offset], at + offset);
            offset += 1;
        }
    }
}

/// Feeds the page without surplus attributes. Returns true when something was left out.
pub(super) fn feed(html: &str, out: &mut impl Feed) -> bool {
    let bytes = html.as_bytes();
    let mut tracked: Vec<TrackedTag> = Vec::new();
    let (mut at, mut fed, mut truncated) = (0, 0, false);
    while at < bytes.len() {
        let close = memchr::memchr(b'>', &bytes[at..]).map_or(bytes.len(), |n| at + n);
        let segment = &bytes[at..close];
        for tag in &mut tracked {
            tag.advance(segment, at);
        }
        if let Some(start) = tag_start(segment)
            && (segment.len() >= QUIET_BYTES || has_quote(&segment[start..]))
        {
            let from = at + start;
            let mut tag = TrackedTag {
                state: State::Name,
                attributes: 0,
                since: from,
                surplus: None,
            };
            tag.advance(&segment[start..], from);
            tracked.push(tag);
        }
        if let Some(tag) = confirm_tag(html, &mut tracked, &mut fed, out) {
            let surplus = fed;
            (at, fed) = end_of(bytes, tag, close);
            truncated |= fed > surplus;
            tracked.clear();
            continue;
        }
        // At the `>` only quoted values continue.
        tracked.retain(|tag| matches!(tag.state, State::Quoted(_)));
        merge(&mut tracked);
        at = close + 1;
        if tracked.is_empty() && at.min(bytes.len()) >= fed + CHUNK_BYTES {
            out.feed(&html[fed..at.min(bytes.len())]);
            fed = at.min(bytes.len());
            if out.is_full() {
                return true;
            }
        }
    }
    while fed < bytes.len() && !out.is_full() {
        let mut end = (fed + CHUNK_BYTES).min(bytes.len());
        while !html.is_char_boundary(end) {
            end += 1;
        }
        out.feed(&html[fed..end]);
        fed = end;
    }
    truncated || fed < bytes.len()
}

/// Returns a tracked tag with surplus attributes that the tokenizer confirms; the page is fed up to its
/// surplus.
fn confirm_tag(
    html: &str,
    tracked: &mut Vec<TrackedTag>,
    fed: &mut usize,
    out: &mut impl Feed,
) -> Option<TrackedTag> {
    loop {
        let index = (0..tracked.len())
            .filter(|&i| tracked[i].surplus.is_some())
            .min_by_key(|&i| tracked[i].surplus)?;
        let tag = tracked[index];
        let surplus = tag.surplus.unwrap_or(*fed);
        let since = tag.since.max(*fed);
        if since >= surplus {
            // Nothing was fed since, so nothing can be confirmed yet; wait for its next attribute.
            (tracked[index].surplus, tracked[index].since) = (None, since);
            continue;
        }
        out.feed(&html[*fed..since]);
        let before = out.emitted();
        out.feed(&html[since..surplus]);
        *fed = surplus;
        if out.emitted() == before {
            return Some(tag);
        }
        tracked.swap_remove(index);
    }
}

/// Returns where a tag with surplus attributes ends: the positions from which to continue scanning and
/// feeding. The tag was tracked up to the `>` at `close`.
fn end_of(bytes: &[u8], mut tag: TrackedTag, mut close: usize) -> (usize, usize) {
    while let State::Quoted(_) = tag.state {
        if close >= bytes.len() {
            break;
        }
        let from = close + 1;
        close = memchr::memchr(b'>', &bytes[from..]).map_or(bytes.len(), |n| from + n);
        tag.advance(&bytes[from..close], from);
    }
    ((close + 1).min(bytes.len()), close)
}

/// Returns where a tag's name starts, assuming that the segment starts in plain text.
fn tag_start(segment: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', segment).find_map(|n| {
        let mut next = n + 1;
        if segment.get(next) == Some(&b'/') {
            next += 1;
        }
        segment
            .get(next)
            .is_some_and(u8::is_ascii_alphabetic)
            .then_some(next)
    })
}

fn has_quote(segment: &[u8]) -> bool {
    memchr::memchr2(b'"', b'\'', segment).is_some()
}

/// Keeps one tag per state: with the most attributes and the latest `since` of those it replaces.
fn merge(tracked: &mut Vec<TrackedTag>) {
    let mut kept: Vec<TrackedTag> = Vec::new();
    for tag in tracked.drain(..) {
        match kept.iter_mut().find(|k| k.state == tag.state) {
            Some(same) => {
                same.attributes = same.attributes.max(tag.attributes);
                same.since = same.since.max(tag.since);
            }
            None => kept.push(tag),
        }
    }
    *tracked = kept;
}

#[cfg(test)]
mod tests {
    use crate::html::dom::Dom;
    use crate::html::parse::parse;

    fn bare(count: usize) -> String {
        (0..count).map(|n| format!(" a{n}")).collect()
    }

    fn longest(dom: &Dom) -> usize {
        (0..dom.len()).map(|id| dom.attributes(id).len()).max().unwrap()
    }

    #[test]
    fn ordinary_pages_are_unchanged() {
        let quoted: String = (0..256).map(|n| format!(" a{n}=\"x > y\"")).collect();
        let words = "if (i <n && x == \"a\" || b >c ' d) { e } ".repeat(500);
        for html in [
            "<p class='a > b' id=c>x</p><br/>".to_owned(),
            format!("<p{quoted}>x</p>"),
            format!("<script>for (i=0;i<n;i++) x=\"{}</script><p id=z>x</p>", words),
            format!("<textarea><a b='{words}</textarea><p id=z>x</p>"),
            format!("<p data-x='{}'>x</p>", "{\"a\": \"b > c\"} ".repeat(5000)),
        ] {
            let dom = parse(&html);
            assert!(!dom.truncated, "{}", &html[..40]);
            assert_eq!(dom.text_of(0, 1 << 20).trim_end().chars().next_back(), Some('x'));
        }
    }

    #[test]
    fn surplus_attributes_are_dropped_and_parsing_continues() {
        let dom = parse(&format!("<p{}>x</p><b>y</b>", bare(100_000)));
        assert!(dom.truncated);
        assert_eq!(longest(&dom), 256);
        assert_eq!(dom.text_of(0, 100).trim(), "xy");
    }

    #[test]
    fn surplus_attributes_are_found_in_any_context() {
        for before in [
            "",
            "<!-- it's <a b=\" -->",
            "<script>x='<i c=\"</script>",
            "<script><!--<script></script> <x y=\" </script q=\">\"",
            "<a b='c>",
            "<textarea><a \"='></textarea>",
            "<svg><![CDATA[ <a b=' ]]></svg>",
            "<p a=\"\" =\"",
        ] {
            for storm in [
                format!("<p c=\">\"{} d=\"1>\"{}>x</p>", bare(20_000), bare(20_000)),
                format!("<p{}>x", bare(40_000)),
            ] {
                let dom = parse(&format!("{before}{storm}"));
                assert!(longest(&dom) <= 256, "{before}: {}", longest(&dom));
            }
        }
    }
}
