//! Writes the HTML that readers give: text is escaped, tags are ours.

/// HTML under construction.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Text, escaped.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                // Control characters are no text; a form feed or vertical tab divides words.
                '\u{B}' | '\u{C}' => self.0.push(' '),
                c if c.is_control() && !matches!(c, '\t' | '\n') => {}
                c => self.0.push(c),
            }
        }
        self
    }

    /// Markup, as it is.
    pub(super) fn raw(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A whole element with text in it; blocks end their line.
    pub(super) fn element(&mut self, name: &str, text: &str) -> &mut Self {
        self.open(name).text(text).close(name)
    }

    /// A start tag without attributes.
    pub(super) fn open(&mut self, name: &str) -> &mut Self {
        self.raw("<").raw(name).raw(">")
    }

    /// An end tag; that of a block ends the line.
    pub(super) fn close(&mut self, name: &str) -> &mut Self {
        self.raw("</").raw(name).raw(">");
        if !matches!(
            name,
            "a" | "strong" | "em" | "del" | "sup" | "sub" | "code" | "td" | "th"
        ) {
            self.raw("\n");
        }
        self
    }

    /// The start tag of a link or picture or other element with one attribute.
    pub(super) fn open_with(&mut self, name: &str, attribute: &str, value: &str) -> &mut Self {
        self.raw("<").raw(name).raw(" ").raw(attribute).raw("=\"");
        self.text(value).raw("\">")
    }

    /// Lines of code.
    pub(super) fn code(&mut self, lines: &str) -> &mut Self {
        // The parser drops one line break at the start of `pre`.
        self.raw("<pre><code>\n")
            .text(lines.trim_end())
            .raw("</code></pre>\n")
    }

    /// The footnotes of what stands before, when there are any; they are taken.
    pub(super) fn footnotes(&mut self, notes: &mut Markup) -> &mut Self {
        if notes.0.is_empty() {
            return self;
        }
        self.raw("<section class=\"footnotes\"><ol>")
            .raw(&std::mem::take(&mut notes.0))
            .raw("</ol></section>\n")
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// What was written.
    pub(super) fn into_html(self) -> String {
        self.0
    }
}
