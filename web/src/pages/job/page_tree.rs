//! Tree tab: the pages of a job as a tree of paths, built in small steps that do not block the page.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::components::tree::Tree;
use crate::job_feed::JobFeed;
use crate::limits::{SLICE_PAGES, WORK_SLICE_MS};
use crate::path_tree::PathTree;
use crate::text;

/// Renders the tree; selecting a page opens it.
#[component]
pub fn PageTree(feed: JobFeed, open: RwSignal<Option<u64>>) -> impl IntoView {
    let tree = RwSignal::new(Arc::new(PathTree::default()));
    let growing = StoredValue::new(false);
    Effect::new(move |_| {
        if feed.rows.with(Vec::len) > 0 && !growing.get_value() {
            growing.set_value(true);
            spawn_local(async move {
                while grow(feed, tree) == Some(true) {
                    browser::sleep(0).await;
                }
                growing.try_set_value(false);
            });
        }
    });
    let is_empty = Memo::new(move |_| tree.with(|tree| tree.len() == 0));
    view! {
        <Show when=move || !is_empty.get() fallback=|| view! { <p class="empty">{text::PAGES_PENDING}</p> }>
            <Tree tree chosen=open label="Pages by path"/>
        </Show>
    }
    .into_any()
}

/// Adds pages for at most [`WORK_SLICE_MS`]. Returns whether there are more, or `None` if the tree is no longer
/// shown.
fn grow(feed: JobFeed, tree: RwSignal<Arc<PathTree>>) -> Option<bool> {
    let until = browser::now_ms() + WORK_SLICE_MS;
    let mut tree = tree.try_write()?;
    let tree = Arc::make_mut(&mut tree);
    feed.rows.try_with_untracked(|rows| {
        for part in rows[tree.len().min(rows.len())..].chunks(SLICE_PAGES) {
            part.iter().for_each(|row| tree.push(&row.page.url));
            if browser::now_ms() >= until {
                break;
            }
        }
        tree.len() < rows.len()
    })
}
