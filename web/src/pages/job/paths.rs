//! The pages of a job as a tree of their paths.

use std::sync::Arc;

use leptos::prelude::*;

use crate::components::tree::Tree;
use crate::job_feed::JobFeed;
use crate::path_tree::PathTree;
use crate::text;

/// Shows the tree; a page that is chosen in it opens.
#[component]
pub fn Paths(feed: JobFeed, open: RwSignal<Option<u64>>) -> impl IntoView {
    let tree = Memo::new(move |_| {
        feed.rows
            .with(|rows| Arc::new(PathTree::of(rows.iter().map(|row| row.url.as_str()))))
    });
    let is_empty = Memo::new(move |_| feed.rows.with(Vec::is_empty));
    view! {
        <Show when=move || !is_empty.get() fallback=|| view! { <p class="empty">{text::NO_PAGES}</p> }>
            <Tree tree chosen=open label="Pages by path"/>
        </Show>
    }
    .into_any()
}
