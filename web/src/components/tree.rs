//! Addresses as a tree after the ARIA pattern, of which only the rows in sight exist. Arrow keys move, left and right
//! close and open, Enter or a click chooses.

use std::collections::HashSet;
use std::sync::Arc;

use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::components::scroll::Scroll;
use crate::figures;
use crate::limits::{ROW_PX, TREE_ROWS};
use crate::path_tree::PathTree;

/// Shows a tree; `chosen` is the place of an address in the list that the tree was made of.
#[component]
pub fn Tree(
    #[prop(into)] tree: Signal<Arc<PathTree>>,
    chosen: RwSignal<Option<u64>>,
    /// Read to screen readers.
    label: &'static str,
) -> impl IntoView {
    let scroll = Scroll::new(false);
    let range = scroll.range();
    // What the reader opened or closed, as far as it differs from what is open at first.
    let turned = RwSignal::new(HashSet::<usize>::new());
    let first = Memo::new(move |_| tree.with(|tree| tree.first_open(TREE_ROWS)));
    let open = Memo::new(move |_| {
        first.with(|first| {
            turned.with(|turned| {
                first
                    .symmetric_difference(turned)
                    .copied()
                    .collect::<HashSet<_>>()
            })
        })
    });
    let rows = Memo::new(move |_| tree.with(|tree| open.with(|open| tree.rows(open))));
    let at = RwSignal::new(None::<usize>);
    let turn = move |branch: usize| {
        turned.update(|turned| {
            if !turned.remove(&branch) {
                turned.insert(branch);
            }
        });
    };
    let choose = move |branch: usize| {
        at.set(Some(branch));
        match tree.with_untracked(|tree| tree.branch(branch).item) {
            Some(item) => chosen.set(Some(item as u64)),
            None => turn(branch),
        }
    };
    let on_key = move |event: KeyboardEvent| {
        let here = at.get_untracked();
        let row = rows.with_untracked(|rows| rows.iter().position(|one| Some(*one) == here));
        let last = rows.with_untracked(Vec::len).saturating_sub(1);
        let is_open = here.is_some_and(|here| open.with_untracked(|open| open.contains(&here)));
        let (parent, child) = here.map_or((None, None), |here| {
            tree.with_untracked(|tree| {
                let branch = tree.branch(here);
                (branch.parent, branch.children.first().copied())
            })
        });
        let key = event.key();
        let next = match key.as_str() {
            "ArrowRight" if child.is_some() && !is_open => {
                here.map(turn);
                here
            }
            "ArrowRight" => child.or(here),
            "ArrowLeft" if is_open => {
                here.map(turn);
                here
            }
            "ArrowLeft" => parent.or(here),
            "Enter" | " " => {
                here.map(choose);
                here
            }
            key => match scroll.step(key, row, last) {
                Some(row) => rows.with_untracked(|rows| rows.get(row).copied()),
                None => return,
            },
        };
        event.prevent_default();
        at.set(next);
        if let Some(row) = rows.with_untracked(|rows| rows.iter().position(|one| Some(*one) == next)) {
            scroll.reveal(row);
        }
    };
    let visible = move || rows.with(|rows| Scroll::visible(range.get(), rows));
    let key = move |(row, branch): &(usize, usize)| {
        let count = tree.with_untracked(|tree| tree.branch(*branch).count);
        (*row, *branch, count)
    };
    let row = move |(row, branch): (usize, usize)| {
        let (facts, place) = tree.with_untracked(|tree| (tree.branch(branch).clone(), tree.place(branch)));
        let is_parent = !facts.children.is_empty();
        let expanded = move || is_parent.then(|| open.with(|open| open.contains(&branch)).to_string());
        let item = facts.item.map(|item| item as u64);
        view! {
            <div
                class="tree-row"
                class:at=move || at.get() == Some(branch)
                role="treeitem"
                id=format!("branch-{branch}")
                attr:aria-level=(facts.depth + 1).to_string()
                aria-posinset=place.0.to_string()
                aria-setsize=place.1.to_string()
                aria-expanded=expanded
                aria-selected=move || (item.is_some() && chosen.get() == item).to_string()
                style:top=format!("{}px", row as f64 * ROW_PX)
                style:padding-left=format!("{}px", 12 + 18 * facts.depth.min(16))
                on:click=move |_| choose(branch)
            >
                <span
                    class=if is_parent { "twist" } else { "twist none" }
                    aria-hidden="true"
                    on:click=move |event| {
                        event.stop_propagation();
                        at.set(Some(branch));
                        if is_parent {
                            turn(branch);
                        }
                    }
                ></span>
                <span class=if item.is_some() { "cut mono" } else { "cut mono part" }>{facts.name}</span>
                <span class="grow"></span>
                {is_parent.then(|| view! { <span class="n">{figures::count(facts.count as u64)}</span> })}
            </div>
        }
    };
    view! {
        <div
            class="tree"
            role="tree"
            tabindex="0"
            aria-label=label
            aria-activedescendant=move || at.get().map(|branch| format!("branch-{branch}"))
            node_ref=scroll.node
            on:scroll=move |_| scroll.moved()
            on:keydown=on_key
        >
            <div
                class="grid-space"
                role="presentation"
                style:height=move || format!("{}px", rows.with(Vec::len) as f64 * ROW_PX)
            >
                <For each=visible key=key children=row/>
            </div>
        </div>
    }
    .into_any()
}
