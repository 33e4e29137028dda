//! Builds the HTML that readers return: text is escaped; tags are ours.

/// Returns blocks without the tags of the only paragraph, if they are one.
pub(super) fn single_paragraph(html: &str) -> &str {
    let html = html.trim();
    let inner = html
        .strip_prefix("<p>")
        .and_then(|rest| rest.strip_suffix("</p>"));
    inner.filter(|inner| !inner.contains("<p>")).unwrap_or(html)
}

/// HTML being built.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Adds text, escaped.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                // Control characters and noncharacters are not text; a form feed or vertical tab separates words.
                '\u{B}' | '\u{C}' => self.0.push(' '),
                c if c.is_control() && !matches!(c, '\t' | '\n') => {}
                '\u{FDD0}'..='\u{FDEF}' => {}
                c => self.0.push(c),
            }
        }
        self
    }

    /// Adds markup unchanged.
    pub(super) fn raw(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds an element with text; blocks end with a line break.
    pub(super) fn element(&mut self, name: &str, text: &str) -> &mut Self {
        self.open(name).text(text).close(name)
    }

    /// Adds a start tag without attributes.
    pub(super) fn open(&mut self, name: &str) -> &mut Self {
        self.raw("<").raw(name).raw(">")
    }

    /// Adds an end tag; after a block, also a line break.
    pub(super) fn close(&mut self, name: &str) -> &mut Self {
        if name == "p" && self.0.ends_with("</math>") {
            self.display_formula();
        }
        self.raw("</").raw(name).raw(">");
        if !matches!(
            name,
            "a" | "strong" | "em" | "del" | "sup" | "sub" | "code" | "td" | "th"
        ) {
            self.raw("\n");
        }
        self
    }

    /// Displays the formula that the open paragraph consists of.
    fn display_formula(&mut self) {
        const START: &str = "<p><math";
        let start = self.0.rfind("<p>").unwrap_or(0);
        let paragraph = &self.0[start..];
        if paragraph.starts_with("<p><math>") && paragraph.matches("</math>").count() == 1 {
            self.0.insert_str(start + START.len(), " display=\"block\"");
        }
    }

    /// Adds a start tag with one attribute.
    pub(super) fn open_with(&mut self, name: &str, attribute: &str, value: &str) -> &mut Self {
        self.raw("<").raw(name).raw(" ").raw(attribute).raw("=\"");
        self.text(value).raw("\">")
    }

    /// Adds the start tag of a cell that covers this many columns and rows.
    pub(super) fn open_spanning(&mut self, name: &str, columns: usize, rows: usize) -> &mut Self {
        self.raw("<").raw(name);
        for (attribute, span) in [("colspan", columns), ("rowspan", rows)] {
            if span > 1 {
                self.raw(&format!(" {attribute}=\"{span}\""));
            }
        }
        self.raw(">")
    }

    /// Removes this end, if there is such an end.
    pub(super) fn remove_end(&mut self, end: &str) -> bool {
        let rest = self.0.strip_suffix(end).map(str::len);
        self.0.truncate(rest.unwrap_or(self.0.len()));
        rest.is_some()
    }

    /// Adds a code block.
    pub(super) fn code(&mut self, lines: &str) -> &mut Self {
        // The parser drops one line break at the start of `pre`.
        self.raw("<pre><code>\n")
            .text(lines.trim_end())
            .raw("</code></pre>\n")
    }

    /// Adds the number of a footnote, with a link to its text.
    pub(super) fn footnote_number(&mut self, number: u32) {
        let number = number.to_string();
        self.open("sup").open_with("a", "href", &format!("#fn{number}"));
        self.text(&number).close("a").close("sup");
    }

    /// Adds a footnote to the list of them.
    pub(super) fn footnote(&mut self, number: u32, content: &str) {
        self.open_with("li", "id", &format!("fn{number}"))
            .raw(content)
            .close("li");
    }

    /// Adds the footnotes, if there are any, and empties them.
    pub(super) fn footnotes(&mut self, notes: &mut Markup) -> &mut Self {
        if notes.0.is_empty() {
            return self;
        }
        self.raw("<section class=\"footnotes\"><ol>")
            .raw(&std::mem::take(&mut notes.0))
            .raw("</ol></section>\n")
    }

    /// Returns the number of bytes so far.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the HTML.
    pub(super) fn into_html(self) -> String {
        self.0
    }
}
