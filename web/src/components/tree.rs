//! URLs as a virtualized tree that follows the ARIA tree pattern. Up and down move, left and right collapse and
//! expand, Enter, Space or a click selects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use leptos::prelude::*;
use web_sys::{KeyboardEvent, MouseEvent};

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

/// What a row shows, which changes while URLs are added.
#[derive(Clone, PartialEq)]
struct ShownRow {
    at: usize,
    row: Row,
    name: Arc<str>,
    depth: usize,
    count: usize,
    item: Option<u64>,
    is_parent: bool,
}

impl ShownRow {
    fn new(tree: &PathTree, at: usize, row: Row) -> Self {
        let branch = tree.branch(row.branch);
        Self {
            at,
            row,
            name: branch.name.clone(),
            depth: branch.depth,
            count: branch.count,
            item: branch.item.map(|item| item as u64),
            is_parent: branch.is_parent(),
        }
    }
}

/// The signals of a tree. `Copy`, so that closures can capture it.
#[derive(Clone, Copy)]
struct TreeState {
    tree: Signal<Arc<PathTree>>,
    chosen: RwSignal<Option<u64>>,
    ticked: Option<RwSignal<HashSet<usize>>>,
    /// Ticked URLs of each branch; `None` without check boxes.
    ticked_counts: Memo<Option<Vec<usize>>>,
    /// Branches that the user expanded or collapsed, which overrides the initial state.
    toggled: RwSignal<HashMap<usize, bool>>,
    initially_open: Memo<HashSet<usize>>,
    /// The branch that the keyboard acts on.
    at: RwSignal<Option<usize>>,
}

impl TreeState {
    fn new(
        tree: Signal<Arc<PathTree>>,
        chosen: RwSignal<Option<u64>>,
        ticked: Option<RwSignal<HashSet<usize>>>,
    ) -> Self {
        Self {
            tree,
            chosen,
            ticked,
            ticked_counts: Memo::new(move |_| {
                let ticked = ticked?;
                Some(tree.with(|tree| ticked.with(|ticked| tree.counts_in(ticked))))
            }),
            toggled: RwSignal::new(HashMap::new()),
            initially_open: Memo::new(move |_| {
                tree.with(|tree| tree.initially_open_branches(INITIAL_TREE_ROWS))
            }),
            at: RwSignal::new(None),
        }
    }

    fn is_open(self, branch: usize) -> bool {
        self.toggled
            .with(|toggled| toggled.get(&branch).copied())
            .unwrap_or_else(|| self.initially_open.with(|open| open.contains(&branch)))
    }

    fn toggle(self, branch: usize) {
        let open = untrack(move || self.is_open(branch));
        self.toggled.update(|toggled| _ = toggled.insert(branch, !open));
    }

    fn tick_of(self, branch: usize) -> Tick {
        let count = self
            .ticked_counts
            .with(|counts| counts.as_ref()?.get(branch).copied());
        match count {
            None | Some(0) => Tick::None,
            Some(count) if count < self.tree.with(|tree| tree.branch(branch).count) => Tick::Some,
            Some(_) => Tick::All,
        }
    }

    fn toggle_tick(self, branch: usize) {
        let Some(ticked) = self.ticked else { return };
        let add = untrack(move || self.tick_of(branch)) != Tick::All;
        let items = self.tree.with_untracked(|tree| tree.items(branch));
        ticked.update(|ticked| match add {
            true => ticked.extend(items),
            false => items.iter().for_each(|item| _ = ticked.remove(item)),
        });
    }

    fn choose(self, branch: usize) {
        self.at.set(Some(branch));
        match self.tree.with_untracked(|tree| tree.branch(branch).item) {
            Some(_) if self.ticked.is_some() => self.toggle_tick(branch),
            Some(item) => self.chosen.set(Some(item as u64)),
            None => self.toggle(branch),
        }
    }

    /// Handles a key that acts on a branch and its relatives. Returns the branch to move to; `None` for other keys.
    fn act(self, key: &str) -> Option<Option<usize>> {
        let here = self.at.get_untracked();
        let is_open = here.is_some_and(|here| untrack(|| self.is_open(here)));
        let (parent, child) = here.map_or((None, None), |here| {
            self.tree
                .with_untracked(|tree| (tree.branch(here).parent, tree.first_child(here)))
        });
        let act_here = |act: fn(Self, usize)| {
            if let Some(here) = here {
                act(self, here);
            }
            Some(here)
        };
        match key {
            "ArrowRight" if child.is_some() && !is_open => act_here(Self::toggle),
            "ArrowRight" => Some(child.or(here)),
            "ArrowLeft" if is_open => act_here(Self::toggle),
            "ArrowLeft" => Some(parent.or(here)),
            " " if self.ticked.is_some() => act_here(Self::toggle_tick),
            "Enter" | " " => act_here(Self::choose),
            _ => None,
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
    let state = TreeState::new(tree, chosen, ticked);
    let scroll = VirtualScroll::new(false);
    let range = scroll.range();
    let rows = Memo::new(move |_| tree.with(|tree| tree.rows(|branch| state.is_open(branch))));
    let row_of = move |branch: Option<usize>| {
        rows.with_untracked(|rows| rows.iter().position(|row| Some(row.branch) == branch))
    };
    let on_key = move |event: KeyboardEvent| {
        let key = event.key();
        let last = rows.with_untracked(Vec::len).saturating_sub(1);
        let step = || {
            let row = scroll.step(&key, row_of(state.at.get_untracked()), last)?;
            Some(rows.with_untracked(|rows| rows.get(row).map(|row| row.branch)))
        };
        let Some(next) = state.act(&key).or_else(step) else {
            return;
        };
        event.prevent_default();
        state.at.set(next);
        if let Some(row) = row_of(next) {
            scroll.reveal(row);
        }
    };
    let visible = Memo::new(move |_| {
        let rows = rows.with(|rows| VirtualScroll::visible_items(range.get(), rows));
        tree.with(|tree| {
            let rows = rows.into_iter().map(|(at, row)| ShownRow::new(tree, at, row));
            rows.collect::<Vec<_>>()
        })
    });
    view! {
        <div
            class="tree"
            role="tree"
            tabindex="0"
            aria-label=label
            aria-activedescendant=move || state.at.get().map(|branch| format!("branch-{branch}"))
            node_ref=scroll.node
            on:scroll=move |_| scroll.on_scroll()
            on:keydown=on_key
        >
            <div
                class="grid-space"
                role="presentation"
                style:height=move || format!("{}px", rows.with(Vec::len) as f64 * ROW_PX)
            >
                <For
                    each=move || visible.get()
                    key=|shown| shown.row.branch
                    children=move |shown| branch_row(state, visible, shown)
                />
            </div>
        </div>
    }
    .into_any()
}

/// Renders a row of the visible tree. It stays while it is visible, so that clicks reach it.
fn branch_row(state: TreeState, visible: Memo<Vec<ShownRow>>, first: ShownRow) -> AnyView {
    let branch = first.row.branch;
    let shown = Memo::new(move |last: Option<&ShownRow>| {
        let now = visible.with(|rows| rows.iter().find(|shown| shown.row.branch == branch).cloned());
        now.unwrap_or_else(|| last.unwrap_or(&first).clone())
    });
    let is_parent = move || shown.with(|shown| shown.is_parent);
    let item = move || shown.with(|shown| shown.item);
    let depth = move || shown.with(|shown| shown.depth);
    let toggle = |state: TreeState, branch| {
        if state.tree.with_untracked(|tree| tree.branch(branch).is_parent()) {
            state.toggle(branch);
        }
    };
    // A click on a part of the row does not choose it.
    let on_part = move |event: MouseEvent, act: fn(TreeState, usize)| {
        event.stop_propagation();
        state.at.set(Some(branch));
        act(state, branch);
    };
    let tick_box = state.ticked.map(|_| {
        view! {
            <span
                class=move || state.tick_of(branch).class()
                aria-hidden="true"
                on:click=move |event| on_part(event, TreeState::toggle_tick)
            ></span>
        }
    });
    view! {
        <div
            class="tree-row"
            class:at=move || state.at.get() == Some(branch)
            role="treeitem"
            id=format!("branch-{branch}")
            attr:aria-level=move || (depth() + 1).to_string()
            aria-posinset=move || shown.with(|shown| shown.row.position.to_string())
            aria-setsize=move || shown.with(|shown| shown.row.siblings.to_string())
            aria-expanded=move || is_parent().then(|| state.is_open(branch).to_string())
            aria-checked=move || state.ticked.map(|_| state.tick_of(branch).aria())
            aria-selected=move || (item().is_some() && state.chosen.get() == item()).to_string()
            style:top=move || format!("{}px", shown.with(|shown| shown.at) as f64 * ROW_PX)
            style:padding-left=move || format!("{}px", 12 + 18 * depth().min(16))
            on:click=move |_| state.choose(branch)
        >
            <span
                class=move || if is_parent() { "toggle" } else { "toggle none" }
                aria-hidden="true"
                on:click=move |event| on_part(event, toggle)
            ></span>
            {tick_box}
            <span class=move || if item().is_some() { "cut mono" } else { "cut mono part" }>
                {move || shown.with(|shown| shown.name.to_string())}
            </span>
            <span class="grow"></span>
            {move || {
                let count = shown.with(|shown| shown.is_parent.then_some(shown.count as u64))?;
                Some(view! { <span class="n">{display::count(count)}</span> })
            }}
        </div>
    }
    .into_any()
}
