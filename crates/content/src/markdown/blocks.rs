//! Block-level Markdown output: paragraphs, headings, fences and tables inside quotes and list items.
//! Writes the prefixes of open containers and the blank lines between blocks; never writes more than its budget.

use crate::limits;

/// What must stand between the last block and the next.
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
    /// The marker is written with the first line, spaces of its width before later ones.
    Item {
        marker: String,
        started: bool,
    },
}

/// The output under construction.
pub(super) struct Blocks {
    text: String,
    containers: Vec<Container>,
    /// Containers that the last block and the next share.
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

    /// True when the budget is used up; blocks are no longer taken.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.max
    }

    /// Bytes written.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Opens a quote. False (and nothing to close) when nested too deep.
    pub(super) fn open_quote(&mut self) -> bool {
        self.open(Container::Quote)
    }

    /// Opens a list item. False (and nothing to close) when nested too deep.
    pub(super) fn open_item(&mut self, marker: String) -> bool {
        self.open(Container::Item {
            marker,
            started: false,
        })
    }

    /// Opens a place that continues the item written before, for lists that hang in a list without an item.
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

    /// Sets what must stand before the next block, if that is less than a blank line.
    pub(super) fn set_gap(&mut self, gap: Gap) {
        self.gap = gap;
    }

    /// True when the innermost container is a list item in which nothing was written yet.
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
                // The first line shows markers, all later ones the same spaces.
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

    /// The finished text, cut to the budget.
    pub(super) fn finish(mut self) -> String {
        if self.text.len() > self.max {
            let mut at = self.max;
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            self.text.truncate(at);
        }
        self.text
    }
}
