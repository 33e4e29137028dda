//! Draws the graph on its canvas.

use std::f64::consts::TAU;

use leptos::prelude::window;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::{Drawing, Viewport};
use crate::limits::GRAPH_LINKS;

/// Most links of a page that are drawn without transparency.
const HUB_LINKS: f64 = 40.0;
/// Pages outside of the canvas are drawn up to this distance, CSS px.
const MARGIN: f64 = 9.0;

/// Colors for drawing, from the style sheet.
struct Colors {
    ink: String,
    line: String,
    accent: String,
}

impl Colors {
    /// Reads the colors from CSS properties of the canvas, which are resolved for the current color scheme.
    fn of(canvas: &HtmlCanvasElement) -> Option<Self> {
        let style = window().get_computed_style(canvas).ok().flatten()?;
        let color = |name: &str| style.get_property_value(name).ok();
        Some(Self {
            ink: color("color")?,
            line: color("border-top-color")?,
            accent: color("caret-color")?,
        })
    }
}

/// A canvas and what it shows.
struct Painter<'a> {
    context: CanvasRenderingContext2d,
    drawing: &'a Drawing,
    viewport: Viewport,
    width: f64,
    height: f64,
}

impl<'a> Painter<'a> {
    /// Clears a canvas, which gets as many pixels as the screen has.
    fn new(canvas: &HtmlCanvasElement, drawing: &'a Drawing, viewport: Viewport) -> Option<Self> {
        let (width, height) = (
            f64::from(canvas.client_width()),
            f64::from(canvas.client_height()),
        );
        let ratio = window().device_pixel_ratio();
        let (wide, high) = ((width * ratio) as u32, (height * ratio) as u32);
        if (canvas.width(), canvas.height()) != (wide, high) {
            canvas.set_width(wide);
            canvas.set_height(high);
        }
        let context: CanvasRenderingContext2d = canvas.get_context("2d").ok().flatten()?.dyn_into().ok()?;
        context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0).ok()?;
        context.clear_rect(0.0, 0.0, width, height);
        Some(Self {
            context,
            drawing,
            viewport,
            width,
            height,
        })
    }

    /// Returns the place of a page on the canvas, if there is such a page.
    fn place(&self, page: usize) -> Option<(f64, f64)> {
        let position = self.drawing.positions.get(page)?;
        Some(self.viewport.to_screen(*position))
    }

    /// Draws links as lines of a width and an opacity.
    fn lines<'l>(&self, links: impl Iterator<Item = &'l (u32, u32)>, color: &str, width: f64, alpha: f64) {
        let context = &self.context;
        context.set_stroke_style_str(color);
        context.set_line_width(width);
        context.set_global_alpha(alpha);
        context.begin_path();
        for (from, to) in links {
            if let (Some(from), Some(to)) = (self.place(*from as usize), self.place(*to as usize)) {
                context.move_to(from.0, from.1);
                context.line_to(to.0, to.1);
            }
        }
        context.stroke();
        context.set_global_alpha(1.0);
    }

    /// Draws pages as dots of a radius.
    fn dots(&self, pages: impl Iterator<Item = usize>, color: &str, radius: f64) {
        let context = &self.context;
        context.set_fill_style_str(color);
        context.begin_path();
        let is_visible = |(x, y): &(f64, f64)| {
            (-MARGIN..=self.width + MARGIN).contains(x) && (-MARGIN..=self.height + MARGIN).contains(y)
        };
        for (x, y) in pages.filter_map(|page| self.place(page)).filter(is_visible) {
            context.move_to(x + radius, y);
            // Fails only for a negative radius.
            _ = context.arc(x, y, radius, 0.0, TAU);
        }
        context.fill();
    }
}

/// Draws the graph with its open and its hovered page. Returns `None` without a canvas context.
pub(super) fn paint(
    canvas: &HtmlCanvasElement,
    drawing: &Drawing,
    viewport: Viewport,
    open: Option<usize>,
    hovered: Option<usize>,
) -> Option<()> {
    let painter = Painter::new(canvas, drawing, viewport)?;
    let colors = Colors::of(canvas)?;
    let links = &drawing.graph.links;
    let is_tree_link = |(from, to): &&(u32, u32)| drawing.graph.parents[*to as usize] == Some(*from);
    // The more links there are, the fainter those outside the tree are drawn.
    let alpha = (1_200.0 / links.len().max(1) as f64).clamp(0.12, 0.5);
    let others = links.iter().filter(|link| !is_tree_link(link));
    painter.lines(others.take(GRAPH_LINKS), &colors.line, 0.5, alpha);
    painter.lines(links.iter().filter(is_tree_link), &colors.line, 0.8, 0.75);
    let focused = hovered.or(open);
    let is_its =
        |(from, to): &&(u32, u32)| focused.is_some_and(|page| *from as usize == page || *to as usize == page);
    let its_links: Vec<(u32, u32)> = links.iter().filter(is_its).copied().collect();
    // The lines of a hub are faint, so that the pages between them stay visible.
    let alpha = (HUB_LINKS / its_links.len().max(1) as f64).clamp(0.2, 1.0);
    painter.lines(its_links.iter(), &colors.accent, 1.2, alpha);

    let radius = (2.6 * viewport.scale.sqrt()).clamp(1.4, 5.0);
    painter.dots(1..drawing.positions.len(), &colors.ink, radius);
    painter.dots(std::iter::once(0), &colors.ink, radius * 1.8);
    let linked = its_links
        .iter()
        .flat_map(|(from, to)| [*from as usize, *to as usize]);
    painter.dots(linked, &colors.accent, radius);
    let marked = [open, hovered].into_iter().flatten();
    painter.dots(marked, &colors.accent, radius * 1.8 + 1.0);
    Some(())
}
