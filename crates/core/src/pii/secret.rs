//! Keys, tokens and passwords: by the formats of well-known services, by the words before them, and by entropy.

use std::sync::LazyLock;

use regex::Regex;

/// Shortest token that is judged by its entropy alone.
const MIN_RANDOM_CHARS: usize = 24;
/// Fewest bits per character of a random token, and of one in hexadecimal digits.
const RANDOM_BITS: f64 = 4.0;
const RANDOM_HEX_BITS: f64 = 3.0;
/// Largest private key in bytes.
const MAX_PEM_BYTES: usize = 16 * 1024;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern compiles")
}

/// Formats of keys.
static FORMATS: LazyLock<Regex> = LazyLock::new(|| {
    const FORMATS: &[&str] = &[
        // AWS
        "(?:AKIA|ASIA)[0-9A-Z]{16}",
        // GitHub, GitLab
        "gh[pousr]_[0-9A-Za-z]{36,}",
        "github_pat_[0-9A-Za-z_]{22,}",
        "gl(?:pat|ptt|dt|rt)-[0-9A-Za-z_-]{20,}",
        // Slack
        "xox[abeoprs]-[0-9A-Za-z-]{10,}",
        "xapp-[0-9A-Za-z-]{10,}",
        // Stripe
        "(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}",
        "whsec_[0-9A-Za-z+/=]{24,}",
        // Google
        "AIza[0-9A-Za-z_-]{35}",
        "ya29\\.[0-9A-Za-z_-]{20,}",
        "GOCSPX-[0-9A-Za-z_-]{28}",
        // OpenAI, Anthropic and others
        "sk-[0-9A-Za-z_-]{20,}",
        "hf_[0-9A-Za-z]{30,}",
        "fc-[0-9a-f]{32}",
        // Package registries
        "npm_[0-9A-Za-z]{36}",
        "pypi-[0-9A-Za-z_-]{50,}",
        // Mail and telephony
        "SG\\.[0-9A-Za-z_-]{16,}\\.[0-9A-Za-z_-]{32,}",
        "key-[0-9a-f]{32}",
        "(?:SK|AC)[0-9a-f]{32}",
        // Hosting
        "do[opr]_v1_[0-9a-f]{64}",
        "dapi[0-9a-f]{32}",
        "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
        // Telegram, Discord
        "[0-9]{8,}:AA[0-9A-Za-z_-]{33}",
        "[MNO][0-9A-Za-z_-]{23,}\\.[0-9A-Za-z_-]{6}\\.[0-9A-Za-z_-]{27,}",
        // JSON Web Token (RFC 7519)
        "eyJ[0-9A-Za-z_-]{8,}\\.eyJ[0-9A-Za-z_-]{8,}\\.[0-9A-Za-z_-]*",
        // age
        "AGE-SECRET-KEY-1[0-9A-Z]{58}",
    ];
    pattern(&format!("(?-u:\\b)(?:{})", FORMATS.join("|")))
});

/// A value after a word such as "password".
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)(?:passwor[dt]|passwd|passphrase|kennwort|pwd|secret|api[ _-]?key|access[ _-]?key|private[ _-]?key|token)["']?[ \t]{0,3}[:=][ \t]{0,3}["']?([^\s"'<>,;&|`]{6,})"#,
    )
});

/// Credentials in an `Authorization` header (RFC 9110 section 11.6.2).
static AUTHORIZATION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?-u:\b)(?:bearer|basic)[ \t]+([0-9A-Za-z._~+/=-]{16,})"));

/// User and password in a URL.
static USER_INFO: LazyLock<Regex> = LazyLock::new(|| pattern(r#"://([^\s/@:"'<>?#]+:[^\s/@"'<>?#]+)@"#));

static TOKEN: LazyLock<Regex> = LazyLock::new(|| pattern("[0-9A-Za-z+/_=-]{24,}"));

/// Finds secrets. `aggressive` includes every token that looks random.
pub(super) fn find(text: &str, is_aggressive: bool, found: &mut dyn FnMut(usize, usize)) {
    for key in FORMATS.find_iter(text) {
        found(key.start(), key.end());
    }
    for (pattern, is_certain) in [(&LABELLED, false), (&AUTHORIZATION, false), (&USER_INFO, true)] {
        for captures in pattern.captures_iter(text) {
            if let Some(value) = captures.get(1)
                && (is_certain || is_password(value.as_str()))
            {
                found(value.start(), value.end());
            }
        }
    }
    private_keys(text, found);
    if is_aggressive {
        for token in TOKEN.find_iter(text) {
            if is_random(token.as_str()) {
                found(token.start(), token.end());
            }
        }
    }
}

/// Finds private keys in PEM (RFC 7468).
fn private_keys(text: &str, found: &mut dyn FnMut(usize, usize)) {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    let mut at = 0;
    while let Some(start) = memchr::memmem::find(&text.as_bytes()[at..], BEGIN.as_bytes()) {
        let start = at + start;
        at = start + BEGIN.len();
        let block = &text[start..text.floor_char_boundary((start + MAX_PEM_BYTES).min(text.len()))];
        let label = &block[BEGIN.len()..];
        let Some(label) = label
            .find("-----")
            .filter(|end| *end <= 64)
            .map(|end| &label[..end])
        else {
            continue;
        };
        if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
            continue;
        }
        let end = match block.find(END) {
            Some(end) => {
                let rest = &block[end + END.len()..];
                end + END.len() + rest.find("-----").map_or(0, |close| close + 5)
            }
            None => block.len(),
        };
        found(start, start + end);
        at = start + end;
    }
}

/// Returns whether a value after a label is a password or key, not a word of the language or an address.
fn is_password(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ')', ']', '!', '?', ':', '*', '_']);
    if value.len() < 6 || value.starts_with("http") || value.starts_with(['$', '{', '(', '[']) {
        return false;
    }
    let has = |test: &dyn Fn(char) -> bool| value.chars().any(test);
    let has_letter = has(&|c| c.is_alphabetic());
    let is_mixed = value.chars().skip(1).any(char::is_uppercase) && has(&char::is_lowercase);
    let has_symbol = has(&|c| "!@#$%^*+=?~".contains(c));
    has(&|c| c.is_ascii_digit()) || (has_letter && has_symbol) || is_mixed
}

/// Returns whether a token looks random: several kinds of characters, none much more frequent than others.
fn is_random(token: &str) -> bool {
    let has = |test: fn(&u8) -> bool| token.as_bytes().iter().any(test);
    let has_digit = has(u8::is_ascii_digit);
    let is_hex = token.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if is_hex {
        return token.len() >= 32
            && has_digit
            && has(u8::is_ascii_alphabetic)
            && bits(token) >= RANDOM_HEX_BITS;
    }
    token.len() >= MIN_RANDOM_CHARS
        && has_digit
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && bits(token) >= RANDOM_BITS
}

/// Returns the entropy of the characters in bits per character.
fn bits(token: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in token.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = token.len() as f64;
    let shares = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}
