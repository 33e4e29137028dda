//! Lists of OpenDocument texts. A list without a text before it is nested in the item before, which may be in a list
//! that ended.

use super::{Attributes, Writer};

/// A list being written.
#[derive(Debug, Default)]
pub(super) struct OpenList {
    style: String,
    /// Whether it continues the numbers of a list before.
    continues: bool,
    /// Its tag, once that is written. A list without marks has none.
    tag: Option<&'static str>,
    /// Whether an item has begun whose start tag is not written.
    has_new_item: bool,
    /// The number that the new item has.
    number: Option<u32>,
}

impl Writer<'_> {
    pub(super) fn start_list(&mut self, attributes: &Attributes) {
        let outer = self.lists.last().map(|list| list.style.as_str());
        let style = attributes.find("text:style-name").or(outer);
        self.lists.push(OpenList {
            style: style.unwrap_or_default().to_owned(),
            continues: attributes.find("text:continue-list").is_some()
                || attributes.find("text:continue-numbering") == Some("true"),
            ..OpenList::default()
        });
    }

    pub(super) fn start_item(&mut self, attributes: &Attributes) {
        if let Some(list) = self.lists.last_mut() {
            list.has_new_item = true;
            list.number = attributes.number("text:start-value");
        }
    }

    /// Writes the start tags of new items, and of their lists.
    pub(super) fn begin_items(&mut self) {
        let levels = self.lists.len();
        for (level, list) in (1..).zip(&mut self.lists) {
            if !std::mem::take(&mut list.has_new_item) || self.styles.is_unmarked(&list.style, level) {
                continue;
            }
            let html = &mut self.html;
            let is_nested_in_item_before = level < levels
                && match list.tag {
                    Some(_) => html.remove_end("</li>\n"),
                    None => {
                        let mut tags = ["ol", "ul"].into_iter();
                        list.tag = tags.find(|tag| html.remove_end(&format!("</li>\n</{tag}>\n")));
                        list.tag.is_some()
                    }
                };
            if is_nested_in_item_before {
                if let Some(ended) = self.ended_lists.get(level - 1) {
                    list.style.clone_from(ended);
                }
                continue;
            }
            let counts_on = level == 1 && (list.continues || list.tag.is_some());
            let last_number = self.list_numbers.get(&list.style).filter(|_| counts_on);
            let number = list.number.unwrap_or_else(|| match last_number {
                Some(last) => last.saturating_add(1),
                None => self.styles.start(&list.style, level),
            });
            if level == 1 {
                self.list_numbers.insert(list.style.clone(), number);
            }
            if list.tag.is_none() {
                let is_numbered = self.styles.is_numbered(&list.style, level);
                let tag = if is_numbered { "ol" } else { "ul" };
                list.tag = Some(tag);
                let is_same =
                    (level > 1 || list.continues) && self.ended_lists.get(level - 1) == Some(&list.style);
                if !(is_same && html.remove_end(&format!("</{tag}>\n"))) {
                    match is_numbered && number != 1 {
                        true => html.open_with(tag, "start", &number.to_string()),
                        false => html.open(tag),
                    };
                }
            }
            html.open("li");
        }
    }

    pub(super) fn end_list(&mut self) {
        let Some(list) = self.lists.pop() else { return };
        if let Some(tag) = list.tag {
            self.html.close(tag);
            let level = self.lists.len();
            self.ended_lists
                .resize(self.ended_lists.len().max(level + 1), String::new());
            self.ended_lists[level] = list.style;
        }
    }

    pub(super) fn end_item(&mut self) {
        let list = self.lists.last_mut();
        // One without content or mark has no tag.
        if list.is_some_and(|list| !std::mem::take(&mut list.has_new_item) && list.tag.is_some()) {
            self.html.close("li");
        }
    }
}
