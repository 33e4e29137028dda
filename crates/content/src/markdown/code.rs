//! Code: the text of a `pre` without line-number gutters, its language, and fences and inline delimiters of
//! sufficient length.

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::name_set::NameSet;
use crate::html::tag::Tag;
use crate::limits;

/// Class tokens of elements next to code that are not code: line numbers, copy buttons, prompts.
static GUTTER_CLASSES: NameSet = NameSet::of(&[
    "lineno", "linenos", "linenodiv", "line-number", "line-numbers-rows", "line-numbers", "linenumber",
    "linenumbers", "lnt", "ln", "gutter", "hljs-ln-numbers", "hljs-ln-n", "blob-num", "react-line-number",
    "code-line-number", "code-block-line-number", "rouge-gutter", "crayon-nums", "copy-button", "copy-btn",
    "copybtn", "btn-copy", "clipboard-copy", "copy", "toolbar", "code-copy", "codeblock-copy",
    "code-toolbar-item", "eslint-line-number", "linenum", "ec-line-number", "line-no", "prompt-marker",
    // Doxygen's tooltips, which are next to the lines.
    "ttc",
]);

/// Returns true for an element that contains the lines of a code block.
pub(crate) fn is_block(dom: &Dom, id: NodeId) -> bool {
    matches!(dom.tag(id), Tag::Pre | Tag::Xmp) || is_fragment(dom, id)
}

/// Returns true for a code block of Doxygen, which has an element for each line.
pub(super) fn is_fragment(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Div
        && dom.has_class(id, "fragment")
        && dom
            .children(id)
            .find(|&child| dom.tag(child) != Tag::Text)
            .is_some_and(|child| dom.tag(child) == Tag::Div && dom.has_class(child, "line"))
}

/// Returns true for an element inside or next to code that shows line numbers or a button.
pub(crate) fn is_gutter(dom: &Dom, id: NodeId) -> bool {
    let tag = dom.tag(id);
    if matches!(
        tag,
        Tag::Button | Tag::Script | Tag::Style | Tag::Svg | Tag::Template | Tag::Textarea | Tag::Select
    ) {
        return true;
    }
    // On `pre` and `code` these classes ask for line numbers; the element is not a gutter.
    if matches!(tag, Tag::Pre | Tag::Code | Tag::Text) {
        return false;
    }
    let classed = dom.classes(id).any(|class| GUTTER_CLASSES.contains(class));
    if !classed {
        return dom
            .attr(id, attr::STYLE)
            .is_some_and(|style| style.contains("user-select: none") || style.contains("user-select:none"))
            && is_numbers(dom, id);
    }
    match dom.has_class(id, "ln")
        || dom.has_class(id, "line-numbers")
        || dom.has_class(id, "copy")
        || dom.has_class(id, "toolbar")
    {
        // Short names with other uses: they count only with digits or a button's label.
        true => is_numbers(dom, id) || dom.text_of(id, 32).trim().len() < 8,
        false => true,
    }
}

/// Returns true when the subtree contains only digits and white space, and at least one digit.
fn is_numbers(dom: &Dom, id: NodeId) -> bool {
    let mut digits = false;
    dom.below(id).all(|n| {
        dom.text(n).bytes().all(|b| {
            digits |= b.is_ascii_digit();
            b.is_ascii_digit() || b.is_ascii_whitespace()
        })
    }) && digits
}

/// Returns the text of a code block as a reader would copy it: with line ends, without gutters, `dropped` elements and
/// trailing white space.
pub(crate) fn text(dom: &Dom, id: NodeId, dropped: &[bool]) -> String {
    let mut out = String::new();
    let mut at = id + 1;
    // Ends of nested block elements, at which a line ends.
    let mut ends: Vec<NodeId> = Vec::new();
    let mut gutter_end = 0;
    let is_fragment = is_fragment(dom, id);
    while at < dom.end(id) {
        while ends.last().is_some_and(|&end| end <= at) {
            ends.pop();
            end_line(&mut out);
        }
        let tag = dom.tag(at);
        if tag == Tag::Text {
            let text = dom.text(at);
            // Between the elements of Doxygen's lines, white space is not shown.
            if is_fragment && dom.parent(at) == id && text.trim_ascii().is_empty() {
                at += 1;
                continue;
            }
            // Doxygen separates the number of a line from its code.
            let is_numbered = at == gutter_end && text.starts_with('\u{A0}');
            out.push_str(if is_numbered {
                &text['\u{A0}'.len_utf8()..]
            } else {
                text
            });
        } else if dropped[at as usize] || is_gutter(dom, at) {
            at = dom.end(at);
            gutter_end = at;
            continue;
        } else if tag == Tag::Br {
            out.push('\n');
        } else if tag.is_block() && !matches!(tag, Tag::Td | Tag::Th) || is_styled_line(dom, at) {
            end_line(&mut out);
            if dom.end(at) > at + 1 {
                ends.push(dom.end(at));
            }
        }
        at += 1;
    }
    if !out.is_ascii() || out.contains('\r') {
        out = out.replace('\u{A0}', " ");
        out = out.replace(['\r', '\u{200B}', '\u{FEFF}'], "");
    }
    out.truncate(out.trim_end().len());
    let mut from = 0;
    for (index, byte) in out.bytes().enumerate() {
        match byte {
            b'\n' => from = index + 1,
            b' ' | b'\t' => {}
            _ => break,
        }
    }
    out.drain(..from);
    out
}

/// Returns true for one of several adjacent `code` or `span.line` elements without line ends between them,
/// which the style sheet shows as lines.
fn is_styled_line(dom: &Dom, id: NodeId) -> bool {
    if !matches!(dom.tag(id), Tag::Span | Tag::Code) {
        return false;
    }
    let is_line = |n: NodeId| {
        dom.classes(n).any(|c| {
            matches!(
                c,
                "line" | "code-line" | "view-line" | "token-line" | "hljs-ln-line" | "cl" | "ec-line"
            )
        }) || (dom.tag(n) == Tag::Code && dom.tag(dom.parent(n)) == Tag::Pre)
    };
    if !is_line(id) || dom.classes(id).any(|c| c == "cl") {
        return false;
    }
    // Only when an adjacent sibling is such a line, too.
    let next = dom.end(id);
    let parent = dom.parent(id);
    let neighbour = next < dom.end(parent) && dom.tag(next) == dom.tag(id) && is_line(next);
    let after_neighbour = id > parent + 1 && {
        let before = id - 1;
        dom.tag(before) != Tag::Text || dom.parent(before) != parent
    };
    let ends_itself = dom.text_of(id, 4096).ends_with('\n');
    !ends_itself && (neighbour || (after_neighbour && dom.end(id) == dom.end(parent)))
}

fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Words that mean "no language", or belong to the highlighter.
const NO_LANGUAGE: &[&str] = &[
    "none", "text", "plaintext", "plain", "txt", "nohighlight", "no-highlight", "default", "notranslate",
    "auto", "undefined", "null", "code", "source", "block", "wrapper", "container", "highlight", "raw",
    "line-numbers", "output", "literal", "wrap", "inline", "snippet", "content", "example", "sample",
];

/// Returns the language of a code block: from the `code` in it, the block, or the elements around it.
pub(crate) fn language(dom: &Dom, pre: NodeId) -> String {
    let mut places = vec![pre];
    let code: Vec<NodeId> = dom
        .below(pre)
        .take(40)
        .filter(|&n| dom.tag(n) == Tag::Code)
        .collect();
    if let Some(&first) = code.first() {
        places.insert(0, first);
    }
    let mut around = pre;
    for _ in 0..8 {
        let parent = dom.parent(around);
        if parent == 0
            || matches!(
                dom.tag(parent),
                Tag::Body | Tag::Article | Tag::Main | Tag::Section | Tag::Li | Tag::Html
            )
        {
            break;
        }
        // The class of an element around several code blocks applies to none of them.
        if dom
            .below(parent)
            .filter(|&n| dom.tag(n) == Tag::Pre)
            .take(3)
            .count()
            > 2
        {
            break;
        }
        around = parent;
        places.push(parent);
    }
    for place in places {
        for name in [attr::DATA_LANG, attr::DATA_LANGUAGE, attr::LANGUAGE] {
            if let Some(language) = dom.attr(place, name).and_then(normalize_language) {
                return language;
            }
        }
        if matches!(dom.tag(place), Tag::Pre | Tag::Code)
            && let Some(language) = dom
                .attr(place, attr::LANG)
                .filter(|l| l.len() > 2 && !l.contains('-'))
                .and_then(normalize_language)
        {
            return language;
        }
        if let Some(language) = from_classes(dom, place) {
            return language;
        }
    }
    String::new()
}

fn from_classes(dom: &Dom, id: NodeId) -> Option<String> {
    let classes: Vec<&str> = dom.classes(id).collect();
    let prefixes = [
        "language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "brush:", "code-",
        "syntax-", "hljs-lang-",
    ];
    for class in &classes {
        for prefix in prefixes {
            // `code-block`, `code-wrapper` and the like are not languages; these prefixes count only on
            // `code` itself.
            let weak = matches!(prefix, "code-" | "syntax-");
            if weak && !matches!(dom.tag(id), Tag::Code) {
                continue;
            }
            if let Some(name) = class
                .get(..prefix.len())
                .filter(|p| p.eq_ignore_ascii_case(prefix))
                .map(|_| &class[prefix.len()..])
                && let Some(language) = normalize_language(name)
            {
                if weak && !is_common(&language) {
                    continue;
                }
                return Some(language);
            }
        }
    }
    // For example `brush: java`, `hljs java`, `sourceCode java`, `prettyprint lang`, `src src-java`,
    // `highlight java`.
    for (at, class) in classes.iter().enumerate() {
        let lower = class.to_ascii_lowercase();
        if lower == "brush:" {
            return classes
                .get(at + 1)
                .and_then(|name| normalize_language(name.trim_end_matches(';')));
        }
        if let Some(name) = lower.strip_prefix("src-") {
            return normalize_language(name);
        }
        let beside = |word: &str| classes.iter().any(|c| c.eq_ignore_ascii_case(word));
        if is_common(&lower)
            && (matches!(dom.tag(id), Tag::Pre | Tag::Code)
                || [
                    "hljs", "sourcecode", "highlight", "prettyprint", "codehilite", "programlisting",
                    "source",
                ]
                .iter()
                .any(|w| beside(w)))
        {
            return normalize_language(&lower);
        }
    }
    None
}

/// Returns true for languages that are accepted as a bare class name.
fn is_common(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "ada", "applescript", "asm", "awk", "bash", "basic", "c", "clojure", "cmake", "cobol",
        "coffeescript", "console", "cpp", "c++", "cs", "csharp", "css", "d", "dart", "diff", "dockerfile",
        "elixir", "elm", "erlang", "fortran", "fsharp", "go", "golang", "graphql", "groovy", "haskell",
        "hcl", "html", "http", "ini", "java", "javascript", "js", "json", "jsx", "julia", "kotlin", "latex",
        "lean", "less", "lisp", "lua", "makefile", "markdown", "matlab", "nginx", "nim", "nix", "objc",
        "objectivec", "ocaml", "pascal", "perl", "php", "powershell", "prolog", "protobuf", "puppet",
        "pycon", "python", "python3", "r", "ruby", "rust", "sass", "scala", "scheme", "scss", "sh", "shell",
        "sql", "svelte", "swift", "tcl", "tex", "toml", "ts", "tsx", "typescript", "vb", "verilog", "vhdl",
        "vim", "vue", "wasm", "xml", "yaml", "yml", "zig", "zsh",
    ];
    NAMES.binary_search(&name).is_ok() || NAMES.contains(&name)
}

/// Normalises a language name for a fence; `None` for words that are not a language.
fn normalize_language(name: &str) -> Option<String> {
    let name = name
        .trim()
        .trim_matches(|c: char| matches!(c, '"' | '\'' | ';' | ':' | '{' | '}'))
        .to_ascii_lowercase();
    let ok = !name.is_empty()
        && name.len() <= 24
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.'))
        && name.chars().any(|c| c.is_ascii_alphabetic())
        && !NO_LANGUAGE.contains(&name.as_str());
    ok.then(|| match name.as_str() {
        "python3" | "ipython3" | "ipython" => "python".to_owned(),
        "c++" => "cpp".to_owned(),
        _ => name,
    })
}

/// Returns a fenced code block.
pub(super) fn fence(code: &str, language: &str) -> String {
    let mut longest = 2;
    for line in code.lines() {
        let ticks = line.trim_start().bytes().take_while(|&b| b == b'`').count();
        longest = longest.max(ticks.min(limits::CODE_FENCE_CHARS));
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}{language}\n{code}\n{fence}")
}

/// The longest delimiter of inline code.
const DELIMITER: &str = match std::str::from_utf8(&[b'`'; limits::CODE_FENCE_CHARS]) {
    Ok(ticks) => ticks,
    Err(_) => panic!("backticks are UTF-8"),
};

/// Returns inline code with delimiters that its own backticks cannot close. Line ends and runs of spaces
/// become one space.
pub(super) fn span(code: &str, cell: bool) -> String {
    delimited(crate::html::dom::collapse(code), cell)
}

/// Returns a line of code as inline code, with its indentation.
pub(super) fn line(code: &str, cell: bool) -> String {
    delimited(code.trim_end().to_owned(), cell)
}

fn delimited(mut text: String, cell: bool) -> String {
    let (mut longest, mut run) = (0usize, 0usize);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    if longest >= limits::CODE_FENCE_CHARS {
        text = text.replace('`', "'");
        longest = 0;
    }
    if cell {
        text = text.replace('|', "\\|");
    }
    let delimiter = &DELIMITER[..=longest];
    let pad = match text.starts_with('`') || text.ends_with('`') {
        true => " ",
        false => "",
    };
    [delimiter, pad, &text, pad, delimiter].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    fn code(html: &str) -> (String, String) {
        let dom = parse(html);
        let pre = dom.first(0, Tag::Pre).unwrap();
        (
            language(&dom, pre),
            text(&dom, pre, &vec![false; dom.nodes.len()]),
        )
    }

    #[test]
    fn languages_come_from_classes_and_data() {
        for (html, language) in [
            ("<pre><code class='language-Rust hljs'>x</code></pre>", "rust"),
            (
                "<div class='highlight-python3 notranslate'><div class=highlight><pre>x</pre></div></div>",
                "python",
            ),
            (
                "<div class='highlight-default notranslate'><div class=highlight><pre>x</pre></div></div>",
                "",
            ),
            (
                "<div class='highlight highlight-source-shell'><pre>x</pre></div>",
                "shell",
            ),
            ("<pre class='brush: java; toolbar: false'>x</pre>", "java"),
            ("<pre class='sourceCode haskell'><code>x</code></pre>", "haskell"),
            ("<pre data-lang=toml><code>x</code></pre>", "toml"),
            ("<pre class='src src-emacs-lisp'>x</pre>", "emacs-lisp"),
            ("<div class=code-block><pre><code>x</code></pre></div>", ""),
            ("<pre class='SYNOPSIS'>x</pre>", ""),
        ] {
            assert_eq!(code(html).0, language, "{html}");
        }
    }

    #[test]
    fn gutters_and_buttons_are_not_code() {
        for html in [
            "<pre><span class=lineno>1 </span>a\n<span class=lineno>2 </span>  b\n</pre>",
            "<pre><button>Copy</button><code>a\n  b</code></pre>",
            "<pre><div>a</div><div>  b</div></pre>",
            "<pre>a<br>  b</pre>",
            "<pre><code><span class=line>a</span><span class=line>  b</span></code></pre>",
            "<pre>\n<span class='line'><span class='ln'>1</span><span class='cl'>a\n</span></span><span class=line><span class=ln>2</span><span class=cl>  b\n</span></span></pre>",
            "<pre><code>a</code><code>  b</code></pre>",
        ] {
            assert_eq!(code(html).1, "a\n  b", "{html}");
        }
    }

    #[test]
    fn fences_and_delimiters_are_long_enough() {
        assert_eq!(fence("a\n```\nb", "md"), "````md\na\n```\nb\n````");
        assert_eq!(span("a `b`", false), "`` a `b` ``");
        assert_eq!(span("a|b\n c", true), "`a\\|b c`");
    }
}
