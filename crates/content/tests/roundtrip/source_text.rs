//! The text of the cleaned HTML: what its Markdown must show, and what it may leave out.

/// The text of a page.
pub(crate) struct SourceText {
    /// Text that must be shown, with a space where blocks or images separate it.
    pub(crate) must: String,
    /// Text that may be shown or not: labels of controls, formulas, links to their own position.
    pub(crate) may: String,
}

/// Elements that separate the text before them from the text after.
const PARTING: &str = "address area article aside audio blockquote body br button canvas caption center dd details \
    dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup \
    hr html iframe img input legend li main menu nav object ol optgroup option p plaintext pre search section select \
    summary svg table tbody td textarea tfoot th thead tr ul video xmp";

const VOID: &str = "area base br col embed frame hr img input link meta source track wbr";

/// Controls, images and formulas: their text is not page text, or is written differently.
const CONTROLS: &str =
    "audio button canvas datalist iframe noembed noframes object select svg textarea title video";

/// Titles that only say that a callout or notes follow.
const TITLES: [&str; 19] = [
    "attention", "caution", "danger", "error", "hint", "important", "info", "information", "note",
    "see also", "success", "tip", "warning", "endnotes", "footnote", "footnotes", "notes", "references",
    "sources",
];

/// Substrings of class names: elements in code that are not code, titles, line number columns, links to
/// headings.
const BESIDE_CODE: &[&str] = &["katex-html", "copybutton"];
const TITLED: &[&str] = &["title", "heading"];
const GUTTER: &[&str] = &["lineno", "linenum", "line-num", "gutter"];
const ANCHOR: &[&str] = &[
    "anchor-link", "header-anchor", "headerlink", "heading-link", "permalink",
];

/// An open element, with properties inherited from its ancestors.
#[derive(Clone, Copy, Default)]
struct Open<'a> {
    name: &'a str,
    id: Option<&'a str>,
    control: bool,
    formula: bool,
    title: bool,
    gutter: bool,
    linked: bool,
    anchor: bool,
    /// Fragment that it links to.
    fragment: Option<&'a str>,
}

/// Reads HTML in the form that the converter writes: every `<` and `>` belongs to a tag, every element is
/// closed, values are quoted. `labels` are those of the footnotes in the Markdown.
pub(crate) fn source_text(html: &str, labels: &[String]) -> SourceText {
    let mut out = SourceText {
        must: String::new(),
        // A list of notes may be numbered by its own numbers.
        may: labels.join(" ") + " ",
    };
    let mut open: Vec<Open> = Vec::new();
    let mut place = "";
    for part in html.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        if is_one_of(name, PARTING) {
            out.must.push('\n');
        }
        if name == "annotation" {
            out.may.push(' ');
        }
        if tag.starts_with('/') {
            let closed = open.pop().map(|element| element.name);
            assert_eq!(closed, Some(name), "unbalanced HTML");
        } else {
            place = attribute(tag, "id").unwrap_or(place);
            if !is_one_of(name, VOID) {
                open.push(open_element(name, tag, open.last().copied().unwrap_or_default()));
            }
            let tex = attribute(tag, "alttext").or(attribute(tag, "data-entry"));
            out.may.extend(tex.map(|tex| format!(" {} ", unescaped(tex))));
        }
        let text = crate::visible(&unescaped(text));
        let says = text.trim_matches(|c: char| !c.is_alphanumeric());
        let Some(element) = open.last() else { continue };
        // A link beside a heading points to its own position: its target is there, or is not in this content.
        let is_here = |fragment: &str| {
            fragment == place
                || open.iter().any(|around| around.id == Some(fragment))
                || !html.contains(&format!(" id=\"{fragment}\""))
        };
        let is_sign = element.anchor && element.fragment.is_some_and(is_here);
        // Footnote references and links back; the Markdown has its own form for their labels.
        let is_mark = element.linked && labels.iter().any(|label| label == says);
        // A note with several references has a link back to each: 10.0, 10.1.
        let is_label = (1..=3).contains(&says.len())
            || !says.is_empty() && says.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let is_back = is_label && element.fragment.is_some_and(|fragment| fragment.contains("ref"));
        let is_title = element.title && TITLES.contains(&says.to_lowercase().as_str());
        let is_number = element.gutter
            && says.contains(|c: char| c.is_ascii_digit())
            && says.chars().all(|c| c.is_ascii_digit() || c.is_whitespace());
        if element.control || element.formula || is_sign || is_mark || is_back || is_title || is_number {
            out.must.push(' ');
            out.may.push_str(&text);
            // Each character of a formula has its own element.
            out.may.push_str(if element.formula { "" } else { " " });
        } else {
            out.must.push_str(&text);
        }
    }
    out
}

fn open_element<'a>(name: &'a str, tag: &'a str, outer: Open<'a>) -> Open<'a> {
    let classes = attribute(tag, "class").unwrap_or("").to_lowercase();
    let classed = |parts: &[&str]| parts.iter().any(|part| classes.contains(part));
    let fragment = attribute(tag, "href").and_then(|href| href.rsplit_once('#'));
    let fragment = fragment.map(|(_, fragment)| fragment).or(outer.fragment);
    Open {
        name,
        id: attribute(tag, "id"),
        control: outer.control || is_one_of(name, CONTROLS) || classed(BESIDE_CODE),
        formula: outer.formula || name == "math",
        title: outer.title || classed(TITLED) || matches!(name.as_bytes(), [b'h', b'1'..=b'6']),
        gutter: outer.gutter
            || classed(GUTTER)
            || classes.split(' ').any(|class| matches!(class, "ln" | "lnt")),
        linked: outer.linked || name == "a",
        anchor: outer.anchor || fragment.is_some() && classed(ANCHOR),
        fragment,
    }
}

fn is_one_of(word: &str, words: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    pairs
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
