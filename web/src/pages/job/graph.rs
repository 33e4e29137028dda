//! Graph tab: the link graph of a job on a canvas. Dragging moves the view, Shift with the wheel or the buttons zoom,
//! a click opens a page. The tree tab is the accessible text alternative.

use std::sync::Arc;

use harvestman_core::api::console::JobLinks;
use harvestman_core::link_graph::LinkGraph;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::{KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};

use crate::browser::SchemeObserver;
use crate::components::notice::{problem_in_card, skeleton};
use crate::console::Console;
use crate::graph_layout::positions;
use crate::job_feed::JobFeed;
use crate::{display, text};

mod paint;

use paint::paint;

/// Maximum distance of a click from a page, CSS px.
const CLICK_RADIUS: f64 = 10.0;
const ZOOM_STEP: f64 = 1.3;
const ZOOM_RANGE: std::ops::RangeInclusive<f64> = 0.02..=6.0;
/// Distance that an arrow key moves the view, CSS px.
const PAN: f64 = 60.0;

/// A graph with its layout.
struct Drawing {
    graph: LinkGraph,
    /// Whether every page was stored with its list of links.
    listed: bool,
    positions: Vec<(f64, f64)>,
    /// Distance of the outermost page from the center.
    radius: f64,
}

/// The visible part of the drawing: `screen = position * scale + offset`.
#[derive(Clone, Copy, PartialEq)]
struct Viewport {
    scale: f64,
    x: f64,
    y: f64,
}

impl Viewport {
    fn to_screen(self, (x, y): (f64, f64)) -> (f64, f64) {
        (x * self.scale + self.x, y * self.scale + self.y)
    }

    /// Zooms around a fixed point on the screen.
    fn zoomed(self, factor: f64, (x, y): (f64, f64)) -> Self {
        let scale = (self.scale * factor).clamp(*ZOOM_RANGE.start(), *ZOOM_RANGE.end());
        let factor = scale / self.scale;
        Self {
            scale,
            x: x - (x - self.x) * factor,
            y: y - (y - self.y) * factor,
        }
    }
}

/// Renders the graph; `open` is the index of the open page.
#[component]
pub fn Graph(feed: JobFeed, open: RwSignal<Option<u64>>) -> impl IntoView {
    let console = Console::get();
    let drawing = RwSignal::new(None::<Arc<Drawing>>);
    let problem = RwSignal::new(None::<String>);
    // Reload when the number of pages has grown by half, and when the job ends.
    let loaded = StoredValue::new(None::<(usize, bool)>);
    Effect::new(move |_| {
        let (rows, ended) = (feed.rows.with(Vec::len), !feed.is_running());
        let stale = loaded
            .get_value()
            .is_none_or(|(known, known_end)| rows * 2 > known * 3 || (ended && !known_end));
        if !stale || rows == 0 {
            return;
        }
        loaded.set_value(Some((rows, ended)));
        spawn_local(async move {
            match console.client().job_links(feed.id).await {
                Ok(JobLinks { graph, listed, .. }) => {
                    let positions = positions(&graph.parents);
                    let radius = positions.iter().map(|(x, y)| x.hypot(*y)).fold(1.0, f64::max);
                    problem.try_set(None);
                    drawing.try_set(Some(Arc::new(Drawing {
                        graph,
                        listed,
                        positions,
                        radius,
                    })));
                }
                Err(error) => _ = problem.try_set(Some(console.report(&error))),
            }
        });
    });
    move || match (problem.get(), drawing.get()) {
        (Some(problem), _) => problem_in_card(&problem),
        (None, None) if feed.rows.with(Vec::is_empty) => {
            view! { <p class="empty">{text::PAGES_PENDING}</p> }.into_any()
        }
        (None, None) => skeleton(3),
        (None, Some(drawing)) => view! { <GraphCanvas feed open drawing/> }.into_any(),
    }
}

/// The canvas with what it shows.
#[derive(Clone, Copy)]
struct GraphView {
    canvas: NodeRef<html::Canvas>,
    drawing: StoredValue<Arc<Drawing>>,
    viewport: RwSignal<Option<Viewport>>,
    hovered: RwSignal<Option<usize>>,
    /// Where the pointer is, in the canvas.
    pointer: RwSignal<(f64, f64)>,
    open: RwSignal<Option<u64>>,
    /// Last position of the pressed pointer, and whether it has moved.
    drag: StoredValue<Option<(f64, f64, bool)>>,
    frame_requested: StoredValue<bool>,
    /// Size of the canvas when it was drawn last, CSS px.
    drawn_size: StoredValue<Option<(f64, f64)>>,
}

impl GraphView {
    fn new(drawing: Arc<Drawing>, open: RwSignal<Option<u64>>) -> Self {
        Self {
            canvas: NodeRef::new(),
            drawing: StoredValue::new(drawing),
            viewport: RwSignal::new(None),
            hovered: RwSignal::new(None),
            pointer: RwSignal::new((0.0, 0.0)),
            open,
            drag: StoredValue::new(None),
            frame_requested: StoredValue::new(false),
            drawn_size: StoredValue::new(None),
        }
    }

    /// Returns width and height of the canvas in CSS px.
    fn size(self) -> Option<(f64, f64)> {
        let canvas = self.canvas.try_get_untracked().flatten()?;
        Some((
            f64::from(canvas.client_width()),
            f64::from(canvas.client_height()),
        ))
    }

    /// Shows the whole graph.
    fn fit(self) {
        self.drawn_size.set_value(self.size());
        let radius = self.drawing.with_value(|drawing| drawing.radius);
        self.viewport.set(self.size().map(|(width, height)| {
            let scale = (width.min(height) / 2.0 - 24.0).max(20.0) / radius;
            Viewport {
                scale: scale.clamp(*ZOOM_RANGE.start(), 1.4),
                x: width / 2.0,
                y: height / 2.0,
            }
        }));
    }

    /// Draws whenever something has changed, at most once per frame.
    fn draw_on_change(self) {
        let theme = Console::get().theme;
        Effect::new(move |_| {
            self.canvas.track();
            theme.track();
            self.viewport.track();
            self.open.track();
            self.hovered.track();
            if self.viewport.with_untracked(Option::is_none) {
                self.fit();
            }
            self.request_draw();
        });
        StoredValue::new_local(SchemeObserver::new(move || self.request_draw()));
        let resized = window_event_listener(leptos::ev::resize, move |_| self.fit());
        on_cleanup(move || resized.remove());
    }

    fn request_draw(self) {
        if self.frame_requested.try_get_value() == Some(false) {
            self.frame_requested.set_value(true);
            request_animation_frame(move || {
                self.frame_requested.try_set_value(false);
                self.draw();
            });
        }
    }

    /// Keeps the middle of the view in place when the width of the canvas changes because a page opens next to it.
    fn follow_size(self) {
        let size = self.size();
        let before = self
            .drawn_size
            .try_update_value(|drawn| std::mem::replace(drawn, size));
        if let (Some((width, height)), Some(Some((old_width, old_height)))) = (size, before)
            && (width, height) != (old_width, old_height)
        {
            self.pan((width - old_width) / 2.0, (height - old_height) / 2.0);
        }
    }

    fn draw(self) {
        self.follow_size();
        let canvas = self.canvas.try_get_untracked().flatten();
        let viewport = self.viewport.try_get_untracked().flatten();
        let (Some(canvas), Some(viewport)) = (canvas, viewport) else {
            return;
        };
        let open = self.open.try_get_untracked().flatten().map(|open| open as usize);
        let hovered = self.hovered.try_get_untracked().flatten();
        self.drawing
            .try_with_value(|drawing| paint(&canvas, drawing, viewport, open, hovered));
    }

    /// Zooms around a point of the canvas.
    fn zoom_at(self, factor: f64, point: (f64, f64)) {
        self.viewport
            .update(|viewport| *viewport = viewport.map(|viewport| viewport.zoomed(factor, point)));
    }

    /// Zooms around the middle of the canvas.
    fn zoom(self, factor: f64) {
        if let Some((width, height)) = self.size() {
            self.zoom_at(factor, (width / 2.0, height / 2.0));
        }
    }

    fn pan(self, x: f64, y: f64) {
        self.viewport.update(|viewport| {
            if let Some(viewport) = viewport {
                viewport.x += x;
                viewport.y += y;
            }
        });
    }

    /// Returns the index of the page at a point of the canvas.
    fn page_at(self, (x, y): (f64, f64)) -> Option<usize> {
        let viewport = self.viewport.get_untracked()?;
        let near = self.drawing.with_value(|drawing| {
            let distances = drawing.positions.iter().enumerate().map(|(page, position)| {
                let (px, py) = viewport.to_screen(*position);
                (page, (px - x).hypot(py - y))
            });
            distances.min_by(|a, b| a.1.total_cmp(&b.1))
        });
        near.filter(|(_, distance)| *distance <= CLICK_RADIUS)
            .map(|(page, _)| page)
    }

    fn on_pointer_down(self, event: &PointerEvent) {
        let (x, y) = point_of(event);
        self.drag.set_value(Some((x, y, false)));
        if let Some(canvas) = self.canvas.get_untracked() {
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
    }

    fn on_pointer_move(self, event: &PointerEvent) {
        let (x, y) = point_of(event);
        match self.drag.get_value() {
            Some((from_x, from_y, moved)) => {
                let far = (x - from_x).hypot(y - from_y) > 3.0;
                if moved || far {
                    self.pan(x - from_x, y - from_y);
                    self.drag.set_value(Some((x, y, true)));
                }
            }
            None => {
                self.pointer.set((x, y));
                let page = self.page_at((x, y));
                if self.hovered.get_untracked() != page {
                    self.hovered.set(page);
                }
            }
        }
    }

    fn on_pointer_up(self, event: &PointerEvent) {
        let was_click = self.drag.get_value().is_some_and(|(_, _, moved)| !moved);
        self.drag.set_value(None);
        if was_click && let Some(page) = self.page_at(point_of(event)) {
            self.open.set(Some(page as u64));
        }
    }

    fn on_wheel(self, event: &WheelEvent) {
        // Without a modifier key, the wheel scrolls the page.
        if event.ctrl_key() || event.meta_key() || event.shift_key() {
            event.prevent_default();
            // With Shift, browsers report a wheel as horizontal.
            let delta = match event.delta_y() {
                0.0 => event.delta_x(),
                delta => delta,
            };
            self.zoom_at((-delta / 240.0).exp(), point_of(event));
        }
    }

    fn on_key(self, event: &KeyboardEvent) {
        match event.key().as_str() {
            "+" | "=" => self.zoom(ZOOM_STEP),
            "-" => self.zoom(1.0 / ZOOM_STEP),
            "0" => self.fit(),
            "ArrowLeft" => self.pan(PAN, 0.0),
            "ArrowRight" => self.pan(-PAN, 0.0),
            "ArrowUp" => self.pan(0.0, PAN),
            "ArrowDown" => self.pan(0.0, -PAN),
            _ => return,
        }
        event.prevent_default();
    }
}

fn point_of(event: &MouseEvent) -> (f64, f64) {
    (f64::from(event.offset_x()), f64::from(event.offset_y()))
}

#[component]
fn GraphCanvas(feed: JobFeed, open: RwSignal<Option<u64>>, drawing: Arc<Drawing>) -> impl IntoView {
    let pages = drawing.positions.len();
    let page_count = display::plural(pages as u64, "page", "pages");
    let link_count = display::plural(drawing.graph.links.len() as u64, "link", "links");
    let (cut, listed) = (drawing.graph.cut, drawing.listed);
    let view = GraphView::new(drawing, open);
    view.draw_on_change();
    let label = format!("{page_count} and {link_count} between them. The Tree tab lists the pages as text.");
    let shown_path = move || {
        let page = view
            .hovered
            .get()
            .or_else(|| open.get().map(|open| open as usize));
        page.and_then(|page| {
            feed.rows.with(|rows| {
                rows.get(page)
                    .map(|row| display::url_path(&row.page.url).to_owned())
            })
        })
    };
    let hovered_name = move || {
        let page = view.hovered.get()?;
        let name = feed
            .rows
            .with(|rows| Some(display::url_path(&rows.get(page)?.page.url).to_owned()))?;
        let (x, y) = view.pointer.get();
        let width = view.size().map_or(0.0, |(width, _)| width);
        // In the right half, the name ends at the pointer.
        let px = |offset: f64| format!("{:.0}px", offset + 12.0);
        let (left, right) = match x > width / 2.0 {
            true => ("auto".to_owned(), px(width - x)),
            false => (px(x), "auto".to_owned()),
        };
        Some(view! {
            <span class="graph-name mono" aria-hidden="true" style:left=left style:right=right style:top=px(y)>
                {name}
            </span>
        })
    };
    let all = move || feed.rows.with(Vec::len);
    let part = move || {
        (all() > pages).then(|| {
            let (shown, all) = (display::count(pages as u64), display::count(all() as u64));
            format!("First {shown} of {all} pages. ")
        })
    };
    view! {
        <div class="graph">
            <canvas
                node_ref=view.canvas
                class="graph-canvas"
                tabindex="0"
                role="img"
                aria-label=label
                on:pointerdown=move |event| view.on_pointer_down(&event)
                on:pointermove=move |event| view.on_pointer_move(&event)
                on:pointerup=move |event| view.on_pointer_up(&event)
                on:pointerleave=move |_| view.hovered.set(None)
                on:wheel=move |event| view.on_wheel(&event)
                on:keydown=move |event| view.on_key(&event)
            ></canvas>
            {hovered_name}
            <div class="graph-zoom">
                <button class="btn icon" aria-label="Zoom in" on:click=move |_| view.zoom(ZOOM_STEP)>"+"</button>
                <button class="btn icon" aria-label="Zoom out" on:click=move |_| view.zoom(1.0 / ZOOM_STEP)>"\u{2212}"</button>
                <button class="btn small" on:click=move |_| view.fit()>"Fit"</button>
            </div>
        </div>
        {(!listed).then(|| view! { <p class="card-foot">{text::GRAPH_MARKDOWN}</p> })}
        <div class="card-foot">
            {move || match shown_path() {
                Some(path) => view! { <span class="mono cut">{path}</span> }.into_any(),
                None => view! { <span>{text::GRAPH_HELP}</span> }.into_any(),
            }}
            <span class="grow"></span>
            <span>
                {part}
                {page_count} ", " {link_count}
                {cut.then_some(text::GRAPH_CUT)}
            </span>
        </div>
    }
    .into_any()
}
