//! Block-level Markdown output: paragraphs, headings, fences and tables inside quotes and list items. Writes
//! the prefixes of open containers and the blank lines between blocks; never exceeds its budget.

use crate::limits;

/// Separator before the next block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Gap {
    /// A line end.
    Line,
    /// A blank line.
    Blank,
}

#[derive(Clone, Debug)]
enum Container {
    Quote,
    /// The marker is written with the first line; later lines are indented by its width.
    Item {
        marker: String,
        started: bool,
    },
}

/// The output under construction.
pub(super) struct Blocks {
    text: String,
    containers: Vec<Container>,
    /// Number of containers that the last block and the next share.
    shared: usize,
    gap: Gap,
    max: usize,
}

impl Blocks {
    pub(super) fn new(max: usize) -> Blocks {
        Blocks {
            text: String::new(),
            containers: Vec::new(),
            shared: 0,
            gap: Gap::Blank,
            max,
        }
    }

    /// Returns true when the budget is used up; further blocks are ignored.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.max
    }

    /// Returns the number of bytes written.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Opens a quote. Returns false, with nothing to close, when nested too deep.
    pub(super) fn open_quote(&mut self) -> bool {
        self.open(Container::Quote)
    }

    /// Opens a list item. Returns false, with nothing to close, when nested too deep.
    pub(super) fn open_item(&mut self, marker: String) -> bool {
        self.open(Container::Item {
            marker,
            started: false,
        })
    }

    /// Opens a container that continues the previous item, for lists directly inside a list.
    pub(super) fn open_continued_item(&mut self, width: usize) -> bool {
        self.open(Container::Item {
            marker: " ".repeat(width),
            started: true,
        })
    }

    fn open(&mut self, container: Container) -> bool {
        if self.containers.len() >= limits::MARKDOWN_NESTING {
            return false;
        }
        self.containers.push(container);
        true
    }

    /// Closes the innermost container.
    pub(super) fn close(&mut self) {
        self.containers.pop();
        self.shared = self.shared.min(self.containers.len());
    }

    /// Sets the separator before the next block, if it is not a blank line.
    pub(super) fn set_gap(&mut self, gap: Gap) {
        self.gap = gap;
    }

    /// Returns true when the innermost container is a list item with nothing written yet.
    pub(super) fn is_at_item_start(&self) -> bool {
        matches!(
            self.containers.last(),
            Some(Container::Item { started: false, .. })
        )
    }

    /// Writes one block of one or more lines.
    pub(super) fn block(&mut self, lines: &str) {
        let gap = std::mem::replace(&mut self.gap, Gap::Blank);
        if self.is_full() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
            if gap == Gap::Blank {
                let mut blank = String::new();
                for container in &self.containers[..self.shared] {
                    match container {
                        Container::Quote => blank.push_str("> "),
                        Container::Item { marker, .. } => {
                            blank.extend(std::iter::repeat_n(' ', marker.len()))
                        }
                    }
                }
                self.text.push_str(blank.trim_end());
                self.text.push('\n');
            }
        }
        let mut prefix = String::new();
        for (number, line) in lines.split('\n').enumerate() {
            if number < 2 {
                // The first line has markers; all later ones have the same indentation.
                prefix.clear();
                for container in &mut self.containers {
                    match container {
                        Container::Quote => prefix.push_str("> "),
                        Container::Item {
                            marker,
                            started: started @ false,
                        } => {
                            prefix.push_str(marker);
                            *started = true;
                        }
                        Container::Item { marker, .. } => {
                            prefix.extend(std::iter::repeat_n(' ', marker.len()))
                        }
                    }
                }
            }
            if number > 0 {
                self.text.push('\n');
            }
            match line.is_empty() {
                true => self.text.push_str(prefix.trim_end()),
                false => {
                    self.text.push_str(&prefix);
                    self.text.push_str(line);
                }
            }
            if self.is_full() {
                break;
            }
        }
        self.shared = self.containers.len();
    }

    /// Returns the text, cut to the budget. Rules at its start and end separate nothing, and one at the start would
    /// begin the front matter of a file.
    pub(super) fn finish(mut self) -> String {
        if self.text.len() > self.max {
            let mut at = self.max;
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            self.text.truncate(at);
        }
        let mut kept = self.text.as_str();
        while let Some(before) = kept.strip_suffix("\n---") {
            kept = before.trim_end();
        }
        while let Some(after) = kept.strip_prefix("---\n") {
            kept = after.trim_start_matches('\n');
        }
        match kept.len() == self.text.len() {
            true => self.text,
            false => kept.to_owned(),
        }
    }
}
