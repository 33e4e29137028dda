//! Cuts surplus attributes out of the text before the tokenizer sees them, because the tokenizer compares each new
//! attribute name with all earlier ones of its tag.
//!
//! Whatever a tokenizer is in (text, script, comment, quoted value), it comes back to plain text only at a `>`. So a tag
//! is looked for once after every `>`, and a tag is followed over a `>` only inside quotes: at most three tags are
//! followed at a time and the work is linear. Ordinary pages come out untouched.

use crate::limits::ATTRIBUTES_PER_TAG;

/// Separators between two `>` below which nothing can be a storm; most of a page is passed over by this count alone.
const QUIET_SEPARATORS: usize = ATTRIBUTES_PER_TAG;

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
    /// Where the first surplus attribute begins.
    surplus: Option<usize>,
}

impl Followed {
    /// One byte on. True when the tag ended here.
    fn step(&mut self, byte: u8, at: usize) -> bool {
        let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r');
        match self.state {
            State::Quoted(quote) => {
                if byte == quote {
                    self.state = State::BeforeName;
                }
                return false;
            }
            _ if byte == b'>' => return true,
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
        false
    }
}

/// The text without surplus attributes, or `None` when there are none.
pub(super) fn thin(html: &str) -> Option<String> {
    let bytes = html.as_bytes();
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    let mut followed: Vec<Followed> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let close = memchr::memchr(b'>', &bytes[at..]).map_or(bytes.len(), |n| at + n);
        let segment = &bytes[at..close];
        let start = tag_start(segment);
        if let Some(start) = start
            && !(followed.is_empty() && segment.len() < QUIET_SEPARATORS && !has_quote(&segment[start..]))
        {
            let mut tag = Followed {
                state: State::Name,
                attributes: 0,
                surplus: None,
            };
            let mut ended = false;
            for (offset, &byte) in segment[start..].iter().enumerate() {
                ended = tag.step(byte, at + start + offset);
            }
            debug_assert!(!ended, "a segment holds no `>`");
            advance(&mut followed, segment, at);
            followed.push(tag);
        } else {
            advance(&mut followed, segment, at);
        }
        // The `>` itself (or the end of the page): only quoted values go on.
        followed.retain(|tag| {
            let goes_on = matches!(tag.state, State::Quoted(_)) && close < bytes.len();
            if let (false, Some(from)) = (goes_on, tag.surplus) {
                cuts.push((from, close));
            }
            goes_on
        });
        merge(&mut followed);
        at = close + 1;
    }
    if cuts.is_empty() {
        return None;
    }
    cuts.sort_unstable();
    let mut out = String::with_capacity(html.len());
    let mut kept = 0;
    for (from, to) in cuts {
        if from > kept {
            out.push_str(&html[kept..from]);
        }
        kept = kept.max(to);
    }
    out.push_str(&html[kept..]);
    Some(out)
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

fn advance(followed: &mut [Followed], segment: &[u8], at: usize) {
    for tag in followed {
        let mut offset = 0;
        while offset < segment.len() {
            // Inside quotes nothing but the quote matters.
            if let State::Quoted(quote) = tag.state {
                match memchr::memchr(quote, &segment[offset..]) {
                    Some(n) => offset += n,
                    None => break,
                }
            }
            tag.step(segment[offset], at + offset);
            offset += 1;
        }
    }
}

/// Keeps one tag a state: the one with the most attributes, which is the one that could be a storm.
fn merge(followed: &mut Vec<Followed>) {
    followed.sort_by_key(|tag| std::cmp::Reverse(tag.attributes));
    let mut seen: Vec<State> = Vec::new();
    followed.retain(|tag| {
        let new = !seen.contains(&tag.state);
        if new {
            seen.push(tag.state);
        }
        new
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storm(count: usize) -> String {
        (0..count).map(|n| format!(" a{n}=\"x > y\"")).collect()
    }

    #[test]
    fn ordinary_tags_are_left_alone() {
        assert_eq!(
            thin("<p class='a > b' id=c>x</p><script>if (a<b && c) { d = \"'\" }</script><br/>"),
            None
        );
        assert_eq!(thin(&format!("<p{}>x</p>", storm(256))), None);
    }

    #[test]
    fn a_storm_is_cut_and_the_tag_closed() {
        let out = thin(&format!("<p{}>x</p>", storm(1000))).unwrap();
        assert!(
            out.ends_with("a255=\"x > y\" >x</p>"),
            "{}",
            &out[out.len() - 60..]
        );
        let bare: String = (0..1000).map(|n| format!(" a{n}")).collect();
        let out = thin(&format!("<!-- it's --><p{bare}>x</p>")).unwrap();
        assert!(out.ends_with(" a255 >x</p>"));
    }

    #[test]
    fn a_storm_behind_a_quote_in_a_comment_is_still_found() {
        let bare: String = (0..1000).map(|n| format!(" a{n}")).collect();
        for before in [
            "<!-- <a b=\" -->",
            "<script>x='<i c=\"</script>",
            "<a b='c>",
            "<textarea><a \"='></textarea>",
        ] {
            let out = thin(&format!("{before}<p c=\">\"{bare} d=\"1>\"{bare}>x</p>")).unwrap();
            assert!(out.len() < 2500, "{before}: {}", out.len());
        }
    }
}
