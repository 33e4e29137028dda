//! Removed tab of the viewer: shows the full page and marks what is not in its main content. Scrapes the full page when
//! the user asks for it.

use std::collections::HashMap;
use std::sync::Arc;

use harvestman_client::ClientError;
use harvestman_core::api::Document;
use harvestman_core::api::format::Format;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::{ScrapeRequest, TargetUrl};
use leptos::prelude::*;

use crate::components::button::{BusyButton, spawn_busy};
use crate::components::error_notice::error_notice;
use crate::console::Console;
use crate::markdown::render;
use crate::{display, text};

/// Returns the options that a page was scraped with; `None` if they are not known.
pub type PageOptions = Callback<(), Option<ScrapeOptions>>;

/// Renders the comparison of a document with its full page.
#[component]
pub fn RemovedContent(document: Arc<Document>, options: PageOptions) -> impl IntoView {
    let console = Console::get();
    let full = RwSignal::new(None::<Result<Document, ClientError>>);
    let busy = RwSignal::new(false);
    let content = document.markdown.clone().unwrap_or_default();
    let metadata = &document.metadata;
    let url = StoredValue::new(metadata.source_url.clone().or_else(|| metadata.url.clone()));
    let load = Callback::new(move |()| {
        let target = url.with_value(|url| TargetUrl::parse(url.as_deref()?).ok());
        let (Some(target), Some(options)) = (target, options.run(())) else {
            return console.notify(text::REMOVED_UNKNOWN_OPTIONS);
        };
        if busy.get_untracked() {
            return;
        }
        let request = full_page_request(target, options);
        spawn_busy(busy, async move {
            let response = console.client().scrape(&request).await;
            let response = response
                .map(|response| response.data.unwrap_or_default())
                .inspect_err(|error| console.handle_error(error));
            full.try_set(Some(response));
        });
    });
    move || {
        match full.get() {
        None => view! {
            <div class="empty">
                <p>{text::REMOVED_HELP}</p>
                <BusyButton class="btn" busy label="Show what was removed" busy_label="Loading the full page" on_click=load/>
            </div>
        }
        .into_any(),
        Some(Err(error)) => error_notice(&error),
        Some(Ok(full)) => comparison(full.markdown.as_deref().unwrap_or_default(), &content),
    }
    }
}

/// Returns the request for everything on a page, fetched in the same way as the page itself.
fn full_page_request(url: TargetUrl, options: ScrapeOptions) -> ScrapeRequest {
    ScrapeRequest {
        options: ScrapeOptions {
            formats: vec![Format::Markdown],
            only_main_content: false,
            only_clean_content: false,
            include_tags: Vec::new(),
            exclude_tags: Vec::new(),
            ..options
        },
        ..ScrapeRequest::new(url)
    }
}

fn comparison(full: &str, content: &str) -> AnyView {
    let parts = parts_of(full, content);
    let removed = parts.iter().filter(|part| part.removed).count() as u64;
    let words: usize = parts
        .iter()
        .filter(|part| part.removed)
        .map(|part| part.markdown.split_whitespace().count())
        .sum();
    let summary = match removed {
        0 => text::NOTHING_REMOVED.to_owned(),
        _ => format!(
            "{} removed ({}).",
            display::plural(removed, "part was", "parts were"),
            display::plural(words as u64, "word", "words")
        ),
    };
    let parts = parts.into_iter().map(|part| {
        let html = render(&part.markdown).html;
        match part.removed {
            // The word is for screen readers and for users who cannot see the colors.
            true => view! { <del class="removed"><span class="removed-label">"Removed"</span><div inner_html=html></div></del> }.into_any(),
            false => view! { <div inner_html=html></div> }.into_any(),
        }
    });
    view! {
        <p class="pad" role="status">{summary}</p>
        <div class="side-by-side">
            <div>
                <h2>"Full page"</h2>
                <div class="prose" tabindex="0" role="region" aria-label="Full page">{parts.collect_view()}</div>
            </div>
            <div>
                <h2>"Main content"</h2>
                <div class="prose" tabindex="0" role="region" aria-label="Main content" inner_html=render(content).html></div>
            </div>
        </div>
    }
    .into_any()
}

/// Consecutive blocks of the full page that were all kept, or all removed.
#[derive(PartialEq, Debug)]
struct Part {
    markdown: String,
    removed: bool,
}

/// Splits the Markdown of a full page into parts that its main content has and parts that it lacks. Each block of the
/// main content matches once.
fn parts_of(full: &str, content: &str) -> Vec<Part> {
    let mut kept: HashMap<String, usize> = HashMap::new();
    for block in blocks(content) {
        *kept.entry(normalized(&block)).or_insert(0) += 1;
    }
    let mut parts: Vec<Part> = Vec::new();
    for block in blocks(full) {
        let removed = match kept.get_mut(&normalized(&block)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        match parts.last_mut().filter(|part| part.removed == removed) {
            Some(part) => {
                // Items of one list stay one list.
                let separator = if is_item(&block) && is_item(last_line(&part.markdown)) {
                    "\n"
                } else {
                    "\n\n"
                };
                part.markdown.push_str(separator);
                part.markdown.push_str(&block);
            }
            None => parts.push(Part {
                markdown: block,
                removed,
            }),
        }
    }
    parts
}

/// Splits Markdown into blocks: paragraphs, headings, whole tables and code blocks, and each item of a list.
fn blocks(markdown: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut starts_block = true;
    for line in markdown.lines() {
        let trimmed = line.trim();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| trimmed.starts_with(marker));
        if fence.is_none() && trimmed.is_empty() {
            starts_block = true;
            continue;
        }
        match blocks
            .last_mut()
            .filter(|_| !starts_block && (fence.is_some() || !is_item(line)))
        {
            Some(block) => {
                block.push('\n');
                block.push_str(line);
            }
            None => blocks.push(line.to_owned()),
        }
        starts_block = false;
        fence = match fence {
            None => marker,
            Some(open) if trimmed.starts_with(open) => None,
            open => open,
        };
    }
    blocks
}

fn last_line(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default()
}

/// Returns whether a line starts an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|bullet| line.starts_with(bullet))
        || (number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") ")))
}

/// Returns what two copies of a block have in common: their words.
fn normalized(block: &str) -> String {
    block.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(markdown: &str, removed: bool) -> Part {
        Part {
            markdown: markdown.to_owned(),
            removed,
        }
    }

    #[test]
    fn blocks_are_paragraphs_items_tables_and_code() {
        let text =
            "# Title\n\nTwo\nlines\n\n- a\n- b\n\n| x |\n|---|\n| 1 |\n\n```\n- no item\n\nend\n```\nafter";
        let expected = [
            "# Title",
            "Two\nlines",
            "- a",
            "- b",
            "| x |\n|---|\n| 1 |",
            "```\n- no item\n\nend\n```\nafter",
        ];
        assert_eq!(blocks(text), expected);
    }

    #[test]
    fn blocks_that_the_main_content_lacks_are_removed() {
        let full = "- [Home](/)\n- [Blog](/blog)\n\n# Title\n\nText  of the page.\n\nShare\n\nShare\n\n1. one\n2. two";
        let content = "# Title\n\nText of\nthe page.\n\nShare\n\n1. one";
        let expected = [
            part("- [Home](/)\n- [Blog](/blog)", true),
            part("# Title\n\nText  of the page.\n\nShare", false),
            part("Share", true),
            part("1. one", false),
            part("2. two", true),
        ];
        assert_eq!(parts_of(full, content), expected);
        assert_eq!(parts_of(content, content).len(), 1);
    }
}
