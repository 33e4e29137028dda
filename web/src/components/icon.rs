//! Single-color SVG icons.

use leptos::prelude::*;

/// The icons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glyph {
    /// The logo, a harvestman.
    Mark,
    /// A house.
    Overview,
    /// A page.
    Scrape,
    /// A hub with spokes.
    Crawl,
    /// A list with dots.
    Batch,
    /// A lens.
    Search,
    /// Braces.
    Extract,
    /// An arrow out of a tray.
    Parse,
    /// A star with a small star.
    Agent,
    /// A pulse.
    Activity,
    /// Bars.
    Usage,
    /// A key.
    Keys,
    /// A question in a bubble.
    Ask,
    /// A wrench.
    Tools,
    /// A folded sheet.
    Map,
    /// A window with a pointer.
    Sessions,
    /// An eye.
    Monitors,
    /// An open book.
    Docs,
    /// Three dots.
    More,
    /// Sliders.
    Settings,
    /// Half dark.
    Theme,
    /// Two sheets.
    Copy,
    /// An arrow into a tray.
    Save,
    /// Two arrows that point apart.
    Expand,
}

impl Glyph {
    fn view_box(self) -> &'static str {
        match self {
            Glyph::Mark => "0 0 32 32",
            _ => "0 0 16 16",
        }
    }

    fn paths(self) -> &'static str {
        match self {
            Glyph::Mark => {
                r#"<ellipse cx="16" cy="17" rx="4.2" ry="3.4" fill="currentColor" stroke="none"/><path d="M13 15 8 7 3 13M12 17 6 13 2 22M13 19 8 17 5 28M19 15 24 7 29 13M20 17 26 13 30 22M19 19 24 17 27 28M15 14 12 4M17 14 20 4"/>"#
            }
            Glyph::Overview => r#"<path d="M2 8 8 2.500 14 8M4 7v6.500h8V7"/>"#,
            Glyph::Scrape => r#"<path d="M4 1.500h5L12.500 5v9.500h-8.500zM6.500 8h4M6.500 11h4"/>"#,
            Glyph::Crawl => {
                r#"<circle cx="8" cy="8" r="2"/><path d="M8 6V2M8 14v-4M6 8H2M14 8h-4M4 4l2.500 2.500M12 4 9.500 6.500M4 12l2.500-2.500M12 12 9.500 9.500"/>"#
            }
            Glyph::Batch => {
                r#"<path d="M6 3.500h8M6 8h8M6 12.500h8M2.500 3.500h.1M2.500 8h.1M2.500 12.500h.1"/>"#
            }
            Glyph::Search => r#"<circle cx="7" cy="7" r="4.500"/><path d="M10.500 10.500 14 14"/>"#,
            Glyph::Extract => {
                r#"<path d="M6 2.500H5A1.500 1.500 0 0 0 3.500 4v2.500L2 8l1.500 1.500V12A1.500 1.500 0 0 0 5 13.500h1M10 2.500h1A1.500 1.500 0 0 1 12.500 4v2.500L14 8l-1.500 1.500V12a1.500 1.500 0 0 1-1.500 1.500h-1"/>"#
            }
            Glyph::Parse => r#"<path d="M8 10V2M4.500 5.500 8 2 11.500 5.500M2.500 13.500h11"/>"#,
            Glyph::Agent => {
                r#"<path d="M6.500 2.500 8 6.500l4 1.500-4 1.500-1.500 4L5 9.500 1 8l4-1.500zM12.500 1.500v3M11 3h3"/>"#
            }
            Glyph::Activity => r#"<path d="M1.500 8.500h3l2-5.500 3 10 2-4.500h3"/>"#,
            Glyph::Usage => r#"<path d="M2 14h12M4 11.500v-4M8 11.500v-9M12 11.500v-6"/>"#,
            Glyph::Keys => r#"<circle cx="5" cy="11" r="3"/><path d="M7.200 8.800 13.500 2.500M11 5l2 2"/>"#,
            Glyph::Ask => {
                r#"<path d="M2 2.500h12v8.500H8l-3.500 3V11H2zM6.500 5.500a1.500 1.500 0 1 1 2 1.400c-.4.2-.5.400-.5.800M8 9.200v.1"/>"#
            }
            Glyph::Tools => {
                r#"<path d="M13.500 4.500 11 7 9 5l2.500-2.500A3.500 3.500 0 0 0 7 7L2.500 11.500a1.400 1.400 0 0 0 2 2L9 9a3.500 3.500 0 0 0 4.500-4.500z"/>"#
            }
            Glyph::Map => {
                r#"<path d="M2 4l4-1.500 4 1.500 4-1.500v10L10 14l-4-1.500L2 14zM6 2.500v10M10 4v10"/>"#
            }
            Glyph::Sessions => {
                r#"<rect x="1.500" y="2.500" width="13" height="11" rx="1.500"/><path d="M1.500 6h13M7 8.500l4 1.500-1.700.7L8.600 12.500z"/>"#
            }
            Glyph::Monitors => {
                r#"<path d="M1.500 8C3 5 5.300 3.500 8 3.500S13 5 14.500 8C13 11 10.700 12.500 8 12.500S3 11 1.500 8z"/><circle cx="8" cy="8" r="2"/>"#
            }
            Glyph::Docs => {
                r#"<path d="M8 4C6.500 2.800 4 2.500 1.500 3v9.500c2.500-.5 5-.2 6.500 1 1.500-1.200 4-1.500 6.500-1V3C12 2.500 9.500 2.800 8 4zM8 4v9.500"/>"#
            }
            Glyph::More => {
                r#"<g fill="currentColor" stroke="none"><circle cx="3" cy="8" r="1.300"/><circle cx="8" cy="8" r="1.300"/><circle cx="13" cy="8" r="1.300"/></g>"#
            }
            Glyph::Settings => {
                r#"<path d="M2 4.500h7M12.500 4.500H14M2 11.500h1.500M7 11.500h7"/><circle cx="10.700" cy="4.500" r="1.800"/><circle cx="5.200" cy="11.500" r="1.800"/>"#
            }
            Glyph::Copy => {
                r#"<rect x="5.500" y="5.500" width="8" height="8.500" rx="1.500"/><path d="M10.500 3V2.500h-8v9H3"/>"#
            }
            Glyph::Save => r#"<path d="M8 2v8M4.500 7 8 10.500 11.500 7M2.500 13.500h11"/>"#,
            Glyph::Expand => {
                r#"<path d="M5 4.500 1.500 8 5 11.500M11 4.500 14.500 8 11 11.500M1.500 8h13"/>"#
            }
            Glyph::Theme => {
                r#"<circle cx="8" cy="8" r="5.500"/><path d="M8 2.500a5.500 5.500 0 0 1 0 11z" fill="currentColor"/>"#
            }
        }
    }
}

/// Renders an icon. It is hidden from screen readers because its button or link has a text label.
#[component]
pub fn Icon(glyph: Glyph, #[prop(optional)] class: &'static str) -> impl IntoView {
    view! {
        <svg
            class=class
            viewBox=glyph.view_box()
            width="16"
            height="16"
            fill="none"
            stroke="currentColor"
            stroke-width=if glyph == Glyph::Mark { "1.7" } else { "1.5" }
            stroke-linecap="round"
            stroke-linejoin="round"
            aria-hidden="true"
            inner_html=glyph.paths()
        ></svg>
    }
    .into_any()
}
