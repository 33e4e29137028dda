//! URLs as a virtualized tree that follows the ARIA tree pattern. Up and down move, left and right collapse and
//! expand, Enter, Space or a click selects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::components::virtual_scroll::VirtualScroll;
use crate::display;
use crate::limits::{INITIAL_TREE_ROWS, ROW_PX};
use crate::path_tree::{PathTree, Row};

/// Whether the URLs of a branch are ticked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tick {
    None,
    Some,
    All,
}

impl Tick {
    fn aria(self) -> &'static str {
        match self {
            Self::None => "false",
            Self::Some => "mixed",
            Self::All => "true",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::None => "box",
            Self::Some => "box some",
            Self::All => "box on",
        }
    }
}

/// Renders a tree; `chosen` is the index of a URL in the list that the tree was built from.
#[component]
pub fn Tree(
    #[prop(into)] tree: Signal<Arc<PathTree>>,
    chosen: RwSignal<Option<u64>>,
    /// Label for screen readers.
    label: &'static str,
    /// Indexes of the ticked URLs; without them the tree has no check boxes.
    #[prop(optional)]
    ticked: Option<RwSignal<HashSet<usize>>>,
) -> impl IntoView {
    let ticked_counts = Memo::new(move |_| {
        let ticked = ticked?;
        Some(tree.with(|tree| ticked.with(|ticked| tree.counts_in(ticked))))
    });
    let tick_of = move |branch: usize| {
        let count = ticked_counts.with(|counts| counts.as_ref()?.get(branch).copied());
        match count {
            None | Some(0) => Tick::None,
            Some(count) if count < tree.with(|tree| tree.branch(branch).count) => Tick::Some,
            Some(_) => Tick::All,
        }
    };
    let toggle_tick = move |branch: usize| {
        let Some(ticked) = ticked else { return };
        let add = untrack(move || tick_of(branch)) != Tick::All;
        let items = tree.with_untracked(|tree| tree.items(branch));
        ticked.update(|ticked| match add {
            true => ticked.extend(items),
            false => items.iter().for_each(|item| _ = ticked.remove(item)),
        });
    };
    let scroll = VirtualScroll::new(false);
    let range = scroll.range();
    // Branches that the user expanded or collapsed, which overrides the initial state.
    let toggled = RwSignal::new(HashMap::<usize, bool>::new());
    let initially_open =
        Memo::new(move |_| tree.with(|tree| tree.initially_open_branches(INITIAL_TREE_ROWS)));
    let is_open = move |branch: usize| {
        toggled
            .with(|toggled| toggled.get(&branch).copied())
            .unwrap_or_else(|| initially_open.with(|initially_open| initially_open.contains(&branch)))
    };
    let rows = Memo::new(move |_| tree.with(|tree| tree.rows(is_open)));
    let at = RwSignal::new(None::<usize>);
    let row_of = move |branch: Option<usize>| {
        rows.with_untracked(|rows| rows.iter().position(|row| Some(row.branch) == branch))
    };
    let toggle = move |branch: usize| {
        let open = untrack(move || is_open(branch));
        toggled.update(|toggled| _ = toggled.insert(branch, !open));
    };
    let choose = move |branch: usize| {
        at.set(Some(branch));
        match tree.with_untracked(|tree| tree.branch(branch).item) {
            Some(_) if ticked.is_some() => toggle_tick(branch),
            Some(item) => chosen.set(Some(item as u64)),
            None => toggle(branch),
        }
    };
    let on_key = move |event: KeyboardEvent| {
        let here = at.get_untracked();
        let last = rows.with_untracked(Vec::len).saturating_sub(1);
        let is_open = here.is_some_and(|here| untrack(|| is_open(here)));
        let (parent, child) = here.map_or((None, None), |here| {
            tree.with_untracked(|tree| (tree.branch(here).parent, tree.first_child(here)))
        });
        let key = event.key();
        let next = match key.as_str() {
            "ArrowRight" if child.is_some() && !is_open => {
                here.map(toggle);
                here
            }
            "ArrowRight" => child.or(here),
            "ArrowLeft" if is_open => {
                here.map(toggle);
                here
            }
            "ArrowLeft" => parent.or(here),
            " " if ticked.is_some() => {
                here.map(toggle_tick);
                here
            }
            "Enter" | " " => {
                here.map(choose);
                here
            }
            key => match scroll.step(key, row_of(here), last) {
                Some(row) => rows.with_untracked(|rows| rows.get(row).map(|row| row.branch)),
                None => return,
            },
        };
        event.prevent_default();
        at.set(next);
        if let Some(row) = row_of(next) {
            scroll.reveal(row);
        }
    };
    let visible = move || rows.with(|rows| VirtualScroll::visible_items(range.get(), rows));
    let key = move |(at, row): &(usize, Row)| {
        let count = tree.with_untracked(|tree| tree.branch(row.branch).count);
        (*at, *row, count)
    };
    let row = move |(
        row,
        Row {
            branch,
            position,
            siblings,
        },
    ): (usize, Row)| {
        let (name, depth, count, item, is_parent) = tree.with_untracked(|tree| {
            let node = tree.branch(branch);
            (
                node.name.to_string(),
                node.depth,
                node.count,
                node.item.map(|item| item as u64),
                node.is_parent(),
            )
        });
        let tick_box = ticked.map(|_| {
            view! {
                <span
                    class=move || tick_of(branch).class()
                    aria-hidden="true"
                    on:click=move |event| {
                        event.stop_propagation();
                        at.set(Some(branch));
                        toggle_tick(branch);
                    }
                ></span>
            }
        });
        let expanded = move || is_parent.then(|| is_open(branch).to_string());
        view! {
            <div
                class="tree-row"
                class:at=move || at.get() == Some(branch)
                role="treeitem"
                id=format!("branch-{branch}")
                attr:aria-level=(depth + 1).to_string()
                aria-posinset=position.to_string()
                aria-setsize=siblings.to_string()
                aria-expanded=expanded
                aria-checked=move || ticked.map(|_| tick_of(branch).aria())
                aria-selected=move || (item.is_some() && chosen.get() == item).to_string()
                style:top=format!("{}px", row as f64 * ROW_PX)
                style:padding-left=format!("{}px", 12 + 18 * depth.min(16))
                on:click=move |_| choose(branch)
            >
                <span
                    class=if is_parent { "toggle" } else { "toggle none" }
                    aria-hidden="true"
                    on:click=move |event| {
                        event.stop_propagation();
                        at.set(Some(branch));
                        if is_parent {
                            toggle(branch);
                        }
                    }
                ></span>
                {tick_box}
                <span class=if item.is_some() { "cut mono" } else { "cut mono part" }>{name}</span>
                <span class="grow"></span>
                {is_parent.then(|| view! { <span class="n">{display::count(count as u64)}</span> })}
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
            on:scroll=move |_| scroll.on_scroll()
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
