//! MathML as TeX, in one walk without recursion.

use crate::html::dom::{Dom, NodeId, collapse};
use crate::html::tag::Tag;
use crate::limits;

/// Elements whose content plain characters do not show.
const STRUCTURES: [&str; 12] = [
    "menclose", "mfrac", "mmultiscripts", "mover", "mroot", "msqrt", "msub", "msubsup", "msup", "mtable",
    "munder", "munderover",
];
/// Elements that the delimiters around them grow with.
const TALL: [&str; 5] = ["mfrac", "mover", "mtable", "munder", "munderover"];
/// The invisible operator between a function and its argument.
const APPLICATION: char = '\u{2061}';
const OPENING: &str = "([{|‖⟨⌈⌊";
const CLOSING: &str = ")]}|‖⟩⌉⌋";
/// Names that TeX has commands for.
const FUNCTIONS: [&str; 32] = [
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim", "exp",
    "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log", "max", "min", "Pr", "sec",
    "sin", "sinh", "sup", "tan", "tanh",
];
/// Operators with limits above and below.
const OPERATORS: [&str; 20] = [
    "∑", "∏", "∐", "∫", "∬", "∭", "∮", "⋀", "⋁", "⋂", "⋃", "⨁", "⨂", "⨆", "det", "gcd", "inf", "lim", "max",
    "min",
];
/// The commands that write a mark above or below a base, by its element and the mark.
const ACCENTS: [(&str, &str, &str); 13] = [
    ("mover", "^ˆ\u{302}", "\\hat{0}"),
    ("mover", "~˜\u{303}", "\\tilde{0}"),
    ("mover", "¯‾ˉ\u{304}\u{305}", "\\overline{0}"),
    ("mover", "→\u{20D7}", "\\vec{0}"),
    ("mover", "˙\u{307}", "\\dot{0}"),
    ("mover", "¨\u{308}", "\\ddot{0}"),
    ("mover", "ˇ\u{30C}", "\\check{0}"),
    ("mover", "˘\u{306}", "\\breve{0}"),
    ("mover", "´\u{301}", "\\acute{0}"),
    ("mover", "`\u{300}", "\\grave{0}"),
    ("mover", "⏞", "\\overbrace{0}"),
    ("munder", "⏟", "\\underbrace{0}"),
    ("munder", "_¯‾\u{332}", "\\underline{0}"),
];
/// Values of `mathvariant`, and their commands.
const VARIANTS: [(&str, &str); 8] = [
    ("normal", "\\mathrm{"),
    ("bold", "\\mathbf{"),
    ("bold-italic", "\\boldsymbol{"),
    ("script", "\\mathcal{"),
    ("fraktur", "\\mathfrak{"),
    ("double-struck", "\\mathbb{"),
    ("sans-serif", "\\mathsf{"),
    ("monospace", "\\mathtt{"),
];
/// The variants of the alphabets of mathematical letters, in the order of Unicode.
const ALPHABETS: [&str; 13] = [
    "bold", "italic", "bold-italic", "script", "script", "fraktur", "double-struck", "fraktur", "sans-serif",
    "sans-serif", "sans-serif", "sans-serif", "monospace",
];

/// Work that is left.
enum Part {
    Node(NodeId),
    Text(&'static str),
}

/// Returns the TeX of MathML, unless plain characters say the same, or it is too large.
pub(super) fn tex(dom: &Dom, math: NodeId) -> Option<String> {
    let is_small = dom.below(math).len() <= limits::FORMULA_NODES;
    if !is_small || dom.below(math).all(|id| is_plain(dom, id)) {
        return None;
    }
    let mut out = String::new();
    let mut left = vec![Part::Node(math)];
    while let Some(part) = left.pop() {
        if out.len() > limits::FORMULA_BYTES {
            return None;
        }
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Node(id) => match name_of(dom, id) {
                "" => push(&mut out, &collapse(dom.text(id))),
                "mi" | "mn" | "mo" => push_token(&mut out, dom, id),
                "mtext" | "ms" => push_text(&mut out, &dom.text_of(id, limits::FORMULA_BYTES)),
                "annotation" | "annotation-xml" | "mphantom" => {}
                _ => {
                    let start = left.len();
                    push_parts(&mut left, dom, id);
                    left[start..].reverse();
                }
            },
        }
    }
    Some(out.trim().to_owned())
}

/// Returns whether plain characters say the same as a node, apart from its children.
fn is_plain(dom: &Dom, id: NodeId) -> bool {
    match name_of(dom, id) {
        "" => !dom.text(id).contains(APPLICATION),
        "mi" => matches!(
            dom.attr_named(id, "mathvariant"),
            None | Some("normal" | "italic")
        ),
        name => !STRUCTURES.contains(&name),
    }
}

/// Appends the parts of an element, in their order.
fn push_parts(parts: &mut Vec<Part>, dom: &Dom, id: NodeId) {
    let children: Vec<NodeId> = dom
        .children(id)
        .filter(|&child| dom.tag(child) != Tag::Text || !dom.text(child).trim().is_empty())
        .collect();
    let mut template = template(dom, id, &children);
    // A base of one token needs no braces.
    if let Some(rest) = template.strip_prefix("{0}")
        && is_token(dom, children[0])
    {
        parts.push(Part::Node(children[0]));
        template = rest;
    }
    let separator = match name_of(dom, id) {
        "mtr" => " & ",
        "mtable" => " \\\\ ",
        _ => "",
    };
    while let Some(at) = template.find(|c: char| c.is_ascii_digit() || "*+$".contains(c)) {
        parts.push(Part::Text(&template[..at]));
        let last = children.len().saturating_sub(1);
        let range = match &template[at..=at] {
            "*" => 0..children.len(),
            "+" => 0..last,
            "$" => last..children.len(),
            digit => digit.parse().map_or(0..0, |at: usize| at..at + 1),
        };
        for (at, &child) in children[range].iter().enumerate() {
            parts.extend([
                Part::Text(if at == 0 { "" } else { separator }),
                Part::Node(child),
            ]);
        }
        template = &template[at + 1..];
    }
    parts.push(Part::Text(template));
}

/// Returns the TeX of an element, where digits stand for its children, `*` for all of them, `$` for the last one,
/// and `+` for those before it.
fn template(dom: &Dom, id: NodeId, children: &[NodeId]) -> &'static str {
    let attribute = |name| dom.attr_named(id, name).unwrap_or_default();
    match (name_of(dom, id), children) {
        ("mfrac", [_, _]) if attribute("linethickness").trim_end_matches(char::is_alphabetic) == "0" => {
            "{0 \\atop 1}"
        }
        ("mfrac", [_, _]) => "\\frac{0}{1}",
        ("mroot", [_, _]) => "\\sqrt[1]{0}",
        ("msqrt", _) => "\\sqrt{*}",
        ("menclose", _) if attribute("notation") == "box" => "\\boxed{*}",
        (name @ ("mover" | "munder"), &[base, mark]) => {
            let mark = text_of(dom, mark);
            let accent = ACCENTS.iter().find(|(element, marks, _)| {
                *element == name && mark.chars().count() == 1 && marks.contains(&mark)
            });
            match (accent, has_limits(dom, base), name) {
                (Some((.., template)), ..) => template,
                (None, true, "mover") => "{0}^{1}",
                (None, true, _) => "{0}_{1}",
                (None, false, "mover") => "\\overset{1}{0}",
                (None, false, _) => "\\underset{1}{0}",
            }
        }
        ("msub", [_, _]) => "{0}_{1}",
        ("msup", [_, _]) => "{0}^{1}",
        ("msubsup" | "munderover" | "mmultiscripts", [_, _, _]) => "{0}_{1}^{2}",
        // The scripts before the base follow `mprescripts`.
        ("mmultiscripts", [_, _, _, _]) => "{}_{2}^{3}0",
        ("mmultiscripts", [_, _, _, _, _, _]) => "{}_{4}^{5}{0}_{1}^{2}",
        ("mtable", _) => "\\begin{matrix}*\\end{matrix}",
        _ => delimited(dom, children),
    }
}

/// Returns the TeX of elements in a row. Delimiters around tall elements grow.
fn delimited(dom: &Dom, row: &[NodeId]) -> &'static str {
    let &[first, ref middle @ .., last] = row else {
        return "*";
    };
    let delimiter = |id, kinds: &str| {
        let is_operator = name_of(dom, id) == "mo" && dom.attr_named(id, "stretchy") != Some("false");
        is_operator
            .then(|| text_of(dom, id))
            .filter(|text| kinds.contains(text))
    };
    let (open, close) = (delimiter(first, OPENING), delimiter(last, CLOSING));
    let template = match (open.as_deref(), close.as_deref()) {
        (Some(""), Some("")) => "*",
        (Some(""), Some(_)) => "\\left.+\\right$",
        (Some(_), Some("")) => "\\left*\\right.",
        (Some(_), Some(_)) => "\\left+\\right$",
        (Some("{"), None) if middle.is_empty() && name_of(dom, last) == "mtable" => "\\left*\\right.",
        _ => "*",
    };
    let is_tall = || (first..dom.end(last)).any(|id| TALL.contains(&name_of(dom, id)));
    let is_divided = |&id: &NodeId| delimiter(id, OPENING).or(delimiter(id, CLOSING)).is_some();
    match template == "*" || middle.iter().any(is_divided) || !is_tall() {
        true => "*",
        false => template,
    }
}

/// Returns whether scripts of a base are limits, or belong to a brace.
fn has_limits(dom: &Dom, base: NodeId) -> bool {
    let text = text_of(dom, base);
    OPERATORS.contains(&text.as_str()) || text.ends_with(['⏞', '⏟'])
}

/// Returns whether an element contains one text.
fn is_token(dom: &Dom, id: NodeId) -> bool {
    let end = dom.end(id);
    dom.tag(end - 1) == Tag::Text && (id..end).all(|inner| dom.end(inner) == end)
}

/// Returns the name of an element; empty for text.
fn name_of(dom: &Dom, id: NodeId) -> &str {
    match dom.tag(id) {
        Tag::Text => "",
        _ => dom.name(id),
    }
}

fn text_of(dom: &Dom, id: NodeId) -> String {
    collapse(&dom.text_of(id, limits::FORMULA_BYTES))
}

/// Appends an identifier, number or operator.
fn push_token(out: &mut String, dom: &Dom, id: NodeId) {
    let text = text_of(dom, id);
    let is_name = !text.is_empty() && text.chars().all(char::is_alphabetic);
    let variant = match dom.attr_named(id, "mathvariant") {
        None if text.chars().nth(1).is_some() => "normal",
        variant => variant.unwrap_or_default(),
    };
    if FUNCTIONS.contains(&text.as_str()) {
        out.push('\\');
        out.push_str(&text);
    } else if is_name && let Some(command) = command(variant) {
        out.push_str(command);
        push(out, &text);
        out.push('}');
    } else {
        push(out, &text);
    }
}

/// Appends text that is not part of the formula.
fn push_text(out: &mut String, text: &str) {
    let words = collapse(text);
    if words.is_empty() {
        return out.push_str("\\ ");
    }
    let space = |is_edge: bool| if is_edge { " " } else { "" };
    out.push_str("\\text{");
    out.push_str(space(text.starts_with(char::is_whitespace)));
    push(out, &words);
    out.push_str(space(text.ends_with(char::is_whitespace)));
    out.push('}');
}

/// Appends characters.
fn push(out: &mut String, text: &str) {
    let before = out.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if before.len() < out.len()
        && before.ends_with('\\')
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        out.push(' ');
    }
    for c in text.chars() {
        match c {
            '{' | '}' | '%' | '#' | '&' | '_' => out.extend(['\\', c]),
            '\\' => out.push_str("\\backslash "),
            // Without width, or invisible operators.
            '\u{200B}' | '\u{2061}'..='\u{2064}' => {}
            _ => match letter(c).map(|(variant, plain)| (command(variant), plain)) {
                Some((Some(command), plain)) => {
                    out.push_str(command);
                    out.extend([plain, '}']);
                }
                Some((None, plain)) => out.push(plain),
                None => out.push(c),
            },
        }
    }
}

fn command(variant: &str) -> Option<&'static str> {
    VARIANTS
        .iter()
        .find(|(name, _)| *name == variant)
        .map(|(_, command)| *command)
}

/// Returns the variant and the plain form of a mathematical letter or digit.
fn letter(c: char) -> Option<(&'static str, char)> {
    let code = u32::from(c);
    let (variant, plain) = match code {
        0x210E => ("italic", u32::from('h')),
        0x1D400..=0x1D6A3 => {
            let (alphabet, at) = ((code - 0x1D400) / 52, (code - 0x1D400) % 52);
            let first = if at < 26 {
                u32::from('A')
            } else {
                u32::from('a') - 26
            };
            (ALPHABETS[alphabet as usize], first + at)
        }
        0x1D6A8..=0x1D7C9 => {
            let (alphabet, at) = ((code - 0x1D6A8) / 58, (code - 0x1D6A8) % 58);
            let plain = match at {
                0..=24 => u32::from('Α') + at,
                26..=50 => u32::from('α') + at - 26,
                at => "∇∂ϵϑϰϕϱϖ"
                    .chars()
                    .nth(at.saturating_sub(50) as usize)
                    .map_or(code, u32::from),
            };
            (ALPHABETS[alphabet as usize % 3], plain)
        }
        0x1D7CE..=0x1D7FF => ("italic", u32::from('0') + (code - 0x1D7CE) % 10),
        _ => return None,
    };
    Some((variant, char::from_u32(plain)?))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use crate::{HtmlPage, Selection};

    #[test]
    fn mathml_is_written_with_the_commands_of_tex() {
        let url = Url::parse("https://site.test/").unwrap();
        let matrix =
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mi>x</mi></mtd></mtr><mtr><mtd></mtd></mtr></mtable>";
        for (mathml, tex) in [
            (
                "<mroot><mi>x</mi><mn>3</mn></mroot><mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac>",
                r"\sqrt[3]{x}{n \atop k}",
            ),
            (
                "<mi>sin</mi><msup><mo>cos</mo><mn>2</mn></msup><mi>x</mi><munder><mi>lim</mi><mi>n</mi></munder><mi>rate</mi>",
                r"\sin\cos^{2}x\lim_{n}\mathrm{rate}",
            ),
            (
                "<mover><mi>x</mi><mo>^</mo></mover><munder><mi>x</mi><mo>_</mo></munder><mover><mo>=</mo><mtext>if so</mtext></mover>",
                r"\hat{x}\underline{x}\overset{\text{if so}}{=}",
            ),
            (
                "<munder><munder><mi>x</mi><mo>⏟</mo></munder><mi>n</mi></munder><mphantom><mi>y</mi></mphantom>",
                r"{\underbrace{x}}_{n}",
            ),
            (
                "<mmultiscripts><mi>C</mi><mprescripts></mprescripts><mn>6</mn><mn>14</mn></mmultiscripts>",
                r"{}_{6}^{14}C",
            ),
            (
                "<mi>𝑥</mi><mi>𝛼</mi><mi>𝔹</mi><mi mathvariant=bold>v</mi><mo>\\</mo><mn>𝟏</mn><msqrt><mi>ℎ</mi></msqrt>",
                r"xα\mathbb{B}\mathbf{v}\backslash 1\sqrt{h}",
            ),
            (
                &format!("<mrow><mo>(</mo>{matrix}<mo>)</mo></mrow>"),
                r"\left(\begin{matrix}1 & x \\ \end{matrix}\right)",
            ),
            (
                &format!("<mrow><mo>{{</mo>{matrix}</mrow>"),
                r"\left\{\begin{matrix}1 & x \\ \end{matrix}\right.",
            ),
            (
                "<mrow><mo fence=true></mo><mfrac><mi>a</mi><mi>b</mi></mfrac><mo>|</mo></mrow>",
                r"\left.\frac{a}{b}\right|",
            ),
            (
                "<mrow><mo>(</mo><msup><mi>a</mi><mn>2</mn></msup><mo>)</mo></mrow>",
                "(a^{2})",
            ),
        ] {
            let page = HtmlPage::parse(&format!("<p><math>{mathml}</math>"), &url);
            let markdown = page.convert(&Selection::default()).markdown();
            assert_eq!(markdown, format!("${tex}$"));
        }
    }
}
