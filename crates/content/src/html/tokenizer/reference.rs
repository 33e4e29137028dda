//! Character references (HTML section 13.2.5.72 and later). The names are in `references.txt`: sorted lines of
//! a name and one or two hexadecimal code points; a name that is also valid without a semicolon starts with
//! `*` instead of a space.

/// The names; the file is sorted by name.
static NAMES: &str = include_str!("references.txt");
const COUNT: usize = count();
/// Start of each line.
static LINES: [u16; COUNT] = lines();
/// Bytes of the longest name, and of the longest one that needs no semicolon.
const LONGEST: usize = 32;
const LONGEST_BARE: usize = 6;

/// The result: one or two characters; NUL stands for none.
pub(super) type Characters = [char; 2];

const fn count() -> usize {
    let bytes = NAMES.as_bytes();
    let (mut count, mut at) = (0, 0);
    while at < bytes.len() {
        count += (bytes[at] == b'\n') as usize;
        at += 1;
    }
    count
}

const fn lines() -> [u16; COUNT] {
    let bytes = NAMES.as_bytes();
    let mut lines = [0; COUNT];
    let (mut line, mut at) = (1, 0);
    while line < COUNT {
        if bytes[at] == b'\n' {
            lines[line] = (at + 1) as u16;
            line += 1;
        }
        at += 1;
    }
    lines
}

/// Returns the length and the characters of the reference at the start of `rest`, which follows a `&`.
pub(super) fn read(rest: &[u8], in_attribute: bool) -> Option<(usize, Characters)> {
    if rest.first() == Some(&b'#') {
        return numeric(rest);
    }
    let length = rest
        .iter()
        .take(LONGEST)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    if rest.get(length) == Some(&b';')
        && let Some((_, characters)) = named_characters(&rest[..length])
    {
        return Some((length + 1, characters));
    }
    for length in (2..=length.min(LONGEST_BARE)).rev() {
        if let Some((true, characters)) = named_characters(&rest[..length]) {
            let next = rest.get(length);
            let continues = next.is_some_and(|&byte| byte == b'=' || byte.is_ascii_alphanumeric());
            return (!in_attribute || !continues).then_some((length, characters));
        }
    }
    None
}

/// Returns the characters of a name, and whether it needs no semicolon.
fn named_characters(name: &[u8]) -> Option<(bool, Characters)> {
    match name {
        b"amp" => return Some((true, ['&', '\0'])),
        b"nbsp" => return Some((true, ['\u{a0}', '\0'])),
        b"quot" => return Some((true, ['"', '\0'])),
        b"lt" => return Some((true, ['<', '\0'])),
        b"gt" => return Some((true, ['>', '\0'])),
        _ => {}
    }
    let line = |start: u16| {
        let line = &NAMES[start as usize..];
        let end = line.find([' ', '*']).unwrap_or(line.len());
        line.split_at(end)
    };
    let found = LINES.binary_search_by(|&start| line(start).0.as_bytes().cmp(name));
    let (_, value) = line(LINES[found.ok()?]);
    let value = value.lines().next()?;
    let mut codes = value[1..].split(',').map(|code| {
        let code = u32::from_str_radix(code, 16).ok();
        code.and_then(char::from_u32).unwrap_or('\0')
    });
    let characters = [codes.next()?, codes.next().unwrap_or('\0')];
    Some((value.starts_with('*'), characters))
}

/// Reads `#123;` or `#x1f;`.
fn numeric(rest: &[u8]) -> Option<(usize, Characters)> {
    let (radix, start) = match rest.get(1) {
        Some(b'x' | b'X') => (16, 2),
        _ => (10, 1),
    };
    let mut number = 0u32;
    let mut at = start;
    while let Some(digit) = rest.get(at).and_then(|&byte| (byte as char).to_digit(radix)) {
        number = number.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == start {
        return None;
    }
    at += usize::from(rest.get(at) == Some(&b';'));
    let character = match number {
        0 => '\u{fffd}',
        0x80..=0x9f => windows_1252(number),
        number => char::from_u32(number).unwrap_or('\u{fffd}'),
    };
    Some((at, [character, '\0']))
}

/// Returns the character of a code from 0x80 to 0x9f, which pages use as in windows-1252.
fn windows_1252(number: u32) -> char {
    const CHARACTERS: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    CHARACTERS[(number - 0x80) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        for line in NAMES.lines() {
            let name = line.split([' ', '*']).next().unwrap();
            assert!(name.len() < LONGEST, "{name}");
            let (bare, characters) = named_characters(name.as_bytes()).unwrap();
            assert!(characters[0] != '\0', "{name}");
            assert_eq!(bare, line.contains('*'), "{name}");
            assert!(!bare || name.len() <= LONGEST_BARE, "{name}");
        }
    }
}
