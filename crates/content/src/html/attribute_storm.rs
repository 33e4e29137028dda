//! Keeps surplus attributes from the tokenizer, because it compares each new attribute name with all earlier ones of
//! its tag. Ordinary pages pass untouched.
//!
//! Whatever a tokenizer is in (text, script, comment, quoted value), it comes back to plain text only at a `>`. So a tag
//! is looked for once after every `>`, and a tag is followed over a `>` only inside quotes: a handful of possible tags
//! are followed at a time and the work is linear. Some of them are no tags at all (scripts compare with `<` too); one
//! that reaches the bound is checked by feeding the tokenizer up to there: inside a real tag it emits nothing.

use crate::limits::ATTRIBUTES_PER_TAG;

/// Length between two `>` below which a tag without quotes cannot be a storm; most of a page is passed over by it.
const QUIET_BYTES: usize = ATTRIBUTES_PER_TAG;
/// Bytes fed at a time while nothing is suspicious.
const CHUNK_BYTES: usize = 64 * 1024;

/// Where the page goes.
pub(super) trait Feed {
    /// Takes the next piece of the page.
    fn feed(&mut self, piece: &str);
    /// Tokens emitted so far, errors not counted.
    fn emitted(&self) -> usize;
    /// True when no more of the page is wanted.
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
struct Followed {
    state: State,
    attributes: usize,
    /// If this is a tag, nothing has been emitted from here on.
    since: usize,
    /// Where a surplus attribute begins that was not looked at yet.
    surplus: Option<usize>,
}

impl Followed {
    /// One byte on; never a `>`.
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

    /// A piece between two `>` on.
    fn advance(&mut self, segment: &[u8], at: usize) {
        let mut offset = 0;
        while offset < segment.len() {
            // Inside quotes nothing but the quote matters.
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

/// Feeds the page without surplus attributes. True when something was left out.
pub(super) fn feed(html: &str, out: &mut impl Feed) -> bool {
    let bytes = html.as_bytes();
    let mut followed: Vec<Followed> = Vec::new();
    let (mut at, mut fed, mut left_out) = (0, 0, false);
    while at < bytes.len() {
        let close = memchr::memchr(b'>', &bytes[at..]).map_or(bytes.len(), |n| at + n);
        let segment = &bytes[at..close];
        for tag in &mut followed {
            tag.advance(segment, at);
        }
        if let Some(start) = tag_start(segment)
            && (segment.len() >= QUIET_BYTES || has_quote(&segment[start..]))
        {
            let from = at + start;
            let mut tag = Followed {
                state: State::Name,
                attributes: 0,
                since: from,
                surplus: None,
            };
            tag.advance(&segment[start..], from);
            followed.push(tag);
        }
        if let Some(tag) = verified(html, &mut followed, &mut fed, out) {
            let surplus = fed;
            (at, fed) = end_of(bytes, tag, close);
            left_out |= fed > surplus;
            followed.clear();
            continue;
        }
        // The `>` itself: only quoted values go on.
        followed.retain(|tag| matches!(tag.state, State::Quoted(_)));
        merge(&mut followed);
        at = close + 1;
        if followed.is_empty() && at.min(bytes.len()) >= fed + CHUNK_BYTES {
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
    left_out || fed < bytes.len()
}

/// The followed tag that has surplus attributes and is one as far as can be told; the page is fed up to its surplus.
fn verified(
    html: &str,
    followed: &mut Vec<Followed>,
    fed: &mut usize,
    out: &mut impl Feed,
) -> Option<Followed> {
    loop {
        let index = (0..followed.len())
            .filter(|&i| followed[i].surplus.is_some())
            .min_by_key(|&i| followed[i].surplus)?;
        let tag = followed[index];
        let surplus = tag.surplus.unwrap_or(*fed);
        let since = tag.since.max(*fed);
        if since >= surplus {
            // Nothing to go by yet; its next attribute is looked at.
            (followed[index].surplus, followed[index].since) = (None, since);
            continue;
        }
        out.feed(&html[*fed..since]);
        let before = out.emitted();
        out.feed(&html[since..surplus]);
        *fed = surplus;
        if out.emitted() == before {
            return Some(tag);
        }
        followed.swap_remove(index);
    }
}

/// Where a tag with surplus ends, given that it was followed up to the `>` at `close`: what to look at and feed next.
fn end_of(bytes: &[u8], mut tag: Followed, mut close: usize) -> (usize, usize) {
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

/// Where a tag's name starts if the segment is plain text at its start.
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

/// Keeps one tag a state: with the most attributes and the weakest claim of those it stands for.
fn merge(followed: &mut Vec<Followed>) {
    let mut kept: Vec<Followed> = Vec::new();
    for tag in followed.drain(..) {
        match kept.iter_mut().find(|k| k.state == tag.state) {
            Some(same) => {
                same.attributes = same.attributes.max(tag.attributes);
                same.since = same.since.max(tag.since);
            }
            None => kept.push(tag),
        }
    }
    *followed = kept;
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
    fn ordinary_pages_are_left_alone() {
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
    fn a_storm_is_cut_and_the_page_goes_on() {
        let dom = parse(&format!("<p{}>x</p><b>y</b>", bare(100_000)));
        assert!(dom.truncated);
        assert_eq!(longest(&dom), 256);
        assert_eq!(dom.text_of(0, 100).trim(), "xy");
    }

    #[test]
    fn a_storm_is_found_wherever_it_hides() {
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
