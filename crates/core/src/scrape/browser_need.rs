//! Decides whether a page needs a browser, from what it shows without one. Pure: `content` measures the page, and the
//! result of the browser is compared here as well.

use std::collections::HashSet;

use harvestman_content::{ENOUGH_TEXT, HtmlPage, Mount, RenderSignals};
use url::Url;

/// Weight of the main text below which an empty application root means that content is missing.
const ROOT_TEXT: usize = ENOUGH_TEXT;
/// The same for an empty `main`, and for an empty element that a script of the page fills.
const MOUNT_TEXT: usize = 500;
/// The same for an empty list.
const LIST_TEXT: usize = 300;
/// The same for a request to enable JavaScript.
const REQUEST_TEXT: usize = 600;
/// The same for skeletons and unfilled templates.
const PLACEHOLDER_TEXT: usize = 800;
/// The same for a bot challenge.
const CHALLENGE_TEXT: usize = 800;
/// The same for a loading indicator.
const LOADER_TEXT: usize = 300;
/// The same for embedded framework state.
const STATE_TEXT: usize = 400;
/// Weight of text that counts as little on a page with scripts.
const LITTLE_TEXT: usize = 200;
/// Weight of text that counts as none.
const NO_TEXT: usize = 10;
/// Number of skeletons that are more than an ornament.
const SKELETONS: usize = 3;
/// Number of unfilled template expressions that are more than an example.
const TEMPLATES: usize = 2;
/// Weight of text below a heading, or of paragraphs, at which a short page is complete.
const WHOLE_BELOW_HEADING: usize = 15;
const WHOLE_PROSE: usize = 60;
/// Number of images or form fields at which a page without text is complete.
const WHOLE_PICTURES: usize = 3;
const WHOLE_FIELDS: usize = 2;
/// Weight of new words, and their percentage of the old text, at which a browser has added content.
const ADDED_TEXT: usize = 20;
const ADDED_PERCENT: usize = 10;

/// Why a page needs a browser or not. The names are stable: they are values of `metadata.scrapeEngineReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrowserReason {
    /// It has enough text.
    Content,
    /// It is short but complete: a heading with text, paragraphs, images, or a form.
    ShortPage,
    /// It runs no scripts.
    NoScripts,
    /// Its scripts only collect statistics or decorate.
    SideScripts,
    /// It redirects by markup or script.
    Redirect,
    /// It displays documents in frames.
    Frames,
    /// It is an error page with little text.
    ErrorPage,
    /// It shows a bot challenge.
    Challenge,
    /// The application root or `main` is empty.
    EmptyMount,
    /// An element that a script of the page seems to fill is empty.
    EmptyTarget,
    /// It asks to enable JavaScript.
    AsksForScripts,
    /// Its `noscript` asks to enable JavaScript, and there is little other text.
    Noscript,
    /// It shows a loading indicator.
    Loader,
    /// It shows skeleton placeholders.
    Skeleton,
    /// It has unfilled template expressions.
    Template,
    /// It has embedded framework state instead of text.
    State,
    /// It has scripts and little text.
    LittleText,
    /// It has scripts and no text.
    NoText,
}

impl BrowserReason {
    /// Every reason.
    pub const ALL: &'static [BrowserReason] = &[
        BrowserReason::Content,
        BrowserReason::ShortPage,
        BrowserReason::NoScripts,
        BrowserReason::SideScripts,
        BrowserReason::Redirect,
        BrowserReason::Frames,
        BrowserReason::ErrorPage,
        BrowserReason::Challenge,
        BrowserReason::EmptyMount,
        BrowserReason::EmptyTarget,
        BrowserReason::AsksForScripts,
        BrowserReason::Noscript,
        BrowserReason::Loader,
        BrowserReason::Skeleton,
        BrowserReason::Template,
        BrowserReason::State,
        BrowserReason::LittleText,
        BrowserReason::NoText,
    ];

    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            BrowserReason::Content => "content",
            BrowserReason::ShortPage => "shortPage",
            BrowserReason::NoScripts => "noScripts",
            BrowserReason::SideScripts => "sideScripts",
            BrowserReason::Redirect => "redirect",
            BrowserReason::Frames => "frames",
            BrowserReason::ErrorPage => "errorPage",
            BrowserReason::Challenge => "challenge",
            BrowserReason::EmptyMount => "emptyMount",
            BrowserReason::EmptyTarget => "emptyTarget",
            BrowserReason::AsksForScripts => "asksForScripts",
            BrowserReason::Noscript => "noscript",
            BrowserReason::Loader => "loader",
            BrowserReason::Skeleton => "skeleton",
            BrowserReason::Template => "template",
            BrowserReason::State => "state",
            BrowserReason::LittleText => "littleText",
            BrowserReason::NoText => "noText",
        }
    }

    /// Returns whether a page with this reason needs a browser.
    pub fn needs_browser(self) -> bool {
        self.certainty() != Certainty::None
    }

    /// Returns how certain it is that the content of such a page is still missing.
    pub fn certainty(self) -> Certainty {
        use BrowserReason::*;
        match self {
            Content | ShortPage | NoScripts | SideScripts | Redirect | Frames | ErrorPage => Certainty::None,
            LittleText => Certainty::Low,
            EmptyTarget | NoText => Certainty::Medium,
            Challenge | EmptyMount | AsksForScripts | Noscript | Loader | Skeleton | Template | State => {
                Certainty::High
            }
        }
    }

    /// Returns what a page shows in place of its content, for a warning; `None` unless that is certain.
    pub fn placeholder(self) -> Option<&'static str> {
        use BrowserReason::*;
        match self {
            Content | ShortPage | NoScripts | SideScripts | Redirect | Frames | ErrorPage | EmptyTarget
            | LittleText | NoText => None,
            Challenge => Some("a bot challenge"),
            EmptyMount => Some("an application that has not loaded its content"),
            AsksForScripts | Noscript => Some("a request to enable JavaScript"),
            Loader => Some("a loading indicator"),
            Skeleton => Some("loading placeholders"),
            Template => Some("an unfilled template"),
            State => Some("an application that has not rendered"),
        }
    }
}

/// How certain it is that the content of a page is still missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// No sign of missing content.
    None,
    /// The page would be unusually short.
    Low,
    /// The scripts have elements to fill.
    Medium,
    /// The page shows a placeholder.
    High,
}

/// Why a document was made from an HTTP response or from a browser page. The names are stable: they are values of
/// `metadata.scrapeEngineReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineReason {
    /// Because of what the page shows.
    Page(BrowserReason),
    /// The options need a browser.
    Requested,
    /// Earlier pages of the host needed a browser.
    Learned,
    /// The browser added nothing to earlier pages of the host.
    Unhelpful,
    /// The browser added nothing to this page.
    NothingAdded,
    /// The page needs a browser, and none is configured.
    NoBrowser,
    /// The browser failed on the page.
    BrowserFailed,
    /// The page seems to need the browser, and the request has `fastMode`.
    FastMode,
}

impl EngineReason {
    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            EngineReason::Page(reason) => reason.name(),
            EngineReason::Requested => "requested",
            EngineReason::Learned => "learned",
            EngineReason::Unhelpful => "unhelpful",
            EngineReason::NothingAdded => "nothingAdded",
            EngineReason::NoBrowser => "noBrowser",
            EngineReason::BrowserFailed => "browserFailed",
            EngineReason::FastMode => "fastMode",
        }
    }
}

/// Decides from the measurements of a page and its HTTP status.
pub fn browser_need(signs: &RenderSignals, status: u16) -> BrowserReason {
    use BrowserReason::*;
    let text = signs.main_text;
    if signs.scripts.running == 0 {
        return NoScripts;
    }
    if signs.challenge && text < CHALLENGE_TEXT {
        return Challenge;
    }
    if signs.scripts.writing == 0 {
        return SideScripts;
    }
    let whole = is_whole(signs);
    match () {
        () if signs.mount == Some(Mount::Root) && text < ROOT_TEXT => EmptyMount,
        () if signs.mount == Some(Mount::Main) && text < MOUNT_TEXT => EmptyMount,
        () if signs.javascript_request_in_text && text < REQUEST_TEXT => AsksForScripts,
        () if signs.skeletons >= SKELETONS && text < PLACEHOLDER_TEXT => Skeleton,
        () if signs.skeletons > 0 && text < LITTLE_TEXT => Skeleton,
        () if signs.loaders > 0 && text < LOADER_TEXT => Loader,
        () if signs.mount == Some(Mount::Target) && text < MOUNT_TEXT => EmptyTarget,
        () if signs.mount == Some(Mount::List) && text < LIST_TEXT => EmptyTarget,
        () if signs.mount == Some(Mount::Element) && text < LITTLE_TEXT && !whole => EmptyTarget,
        () if signs.javascript_request_in_noscript && text < LITTLE_TEXT && !whole => Noscript,
        () if signs.templates >= TEMPLATES && text < PLACEHOLDER_TEXT => Template,
        () if signs.scripts.state && text < STATE_TEXT && !whole => State,
        () if signs.frames > 0 && text < LITTLE_TEXT => Frames,
        () if text >= LITTLE_TEXT => Content,
        () if whole => ShortPage,
        () if text < NO_TEXT => NoText,
        () if status >= 400 => ErrorPage,
        () => LittleText,
    }
}

/// Returns how certain it is that content is missing from a page that is open in a browser.
pub fn pending(html: &str, url: &Url, status: u16) -> Certainty {
    let mut signs = HtmlPage::parse(html, url).render_signals(ENOUGH_TEXT);
    signs.mark_rendered();
    browser_need(&signs, status).certainty()
}

/// Returns whether a short page is complete.
fn is_whole(signs: &RenderSignals) -> bool {
    let below = signs.main_text - signs.headings;
    (signs.headings > 0 && below >= WHOLE_BELOW_HEADING)
        || signs.prose >= WHOLE_PROSE
        || signs.images >= WHOLE_PICTURES
        || signs.fields >= WHOLE_FIELDS
}

/// Returns whether the page in the browser has more content than before: new words or new images. Both must be measured
/// as a whole ([`super::RenderedPage::measure_whole`]).
pub fn browser_added(before: &RenderSignals, after: &RenderSignals) -> bool {
    if after.images >= before.images + WHOLE_PICTURES {
        return true;
    }
    let known: HashSet<&str> = before.text.split_whitespace().collect();
    let new: usize = after
        .text
        .split_whitespace()
        .filter(|word| !known.contains(word))
        .map(|word| word.chars().count())
        .sum();
    // Text beyond the retained part counts only by its weight.
    let grown = after.main_text.saturating_sub(before.main_text);
    let least = match before.main_text {
        0..NO_TEXT => 1,
        text => ADDED_TEXT.max(text * ADDED_PERCENT / 100),
    };
    new.max(grown) >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_certain_reasons_have_a_placeholder() {
        let names: HashSet<_> = BrowserReason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), BrowserReason::ALL.len());
        for reason in BrowserReason::ALL {
            let is_sure = reason.certainty() == Certainty::High;
            assert_eq!(is_sure, reason.placeholder().is_some(), "{reason:?}");
        }
    }

    #[track_caller]
    fn added(before: &str, after: &str, expected: bool) {
        let signs = |text: &str| RenderSignals {
            main_text: text.chars().filter(|c| !c.is_whitespace()).count(),
            text: text.to_owned(),
            ..RenderSignals::default()
        };
        assert_eq!(
            browser_added(&signs(before), &signs(after)),
            expected,
            "{before} -> {after}"
        );
    }

    #[test]
    fn only_new_content_counts_as_added() {
        added("", "Herons and other birds of the lake", true);
        added(
            "Checking your browser before you proceed to the site",
            "A page about herons.",
            false,
        );
        added(
            "Checking your browser before you proceed",
            "Herons stand still; egrets walk about.",
            true,
        );
        added(
            "MAX pub const MAX: u32 = 4294967295u32",
            "MAX pub const MAX: u32 = 4294967295u32 Copy",
            false,
        );
        added("東京の天気", "東京の天気", false);
        added("", "短い", true);
        added("", "", false);
        let long = "word ".repeat(400);
        added(&long, &format!("{long} and a few more of them"), false);
    }
}
