//! Whether a page is worth a browser, decided by what it shows without one. Pure: the page is measured by `content`,
//! and what a browser did with it is compared here as well.

use std::collections::HashSet;

use harvestman_content::{Mount, Page, Signs};
use url::Url;

/// Weight of the main text under which an empty root means that the page is still to come.
const ROOT_TEXT: usize = 1_000;
/// The same of an empty `main`, and of an empty element that a script of the page fills.
const MOUNT_TEXT: usize = 500;
/// The same of an empty list.
const LIST_TEXT: usize = 300;
/// The same of a request for JavaScript.
const REQUEST_TEXT: usize = 600;
/// The same of skeletons and unfilled templates.
const PLACEHOLDER_TEXT: usize = 800;
/// The same of a challenge.
const CHALLENGE_TEXT: usize = 800;
/// The same of a loader.
const LOADER_TEXT: usize = 300;
/// The same of a framework's state.
const STATE_TEXT: usize = 400;
/// Weight of text that is little beside scripts.
const LITTLE_TEXT: usize = 200;
/// Weight of text that is none.
const NO_TEXT: usize = 10;
/// Skeletons that are more than an ornament.
const SKELETONS: usize = 3;
/// Unfilled template expressions that are more than an example.
const TEMPLATES: usize = 2;
/// Weight of text below a heading, or of paragraphs, from which a short page is whole.
const WHOLE_BELOW_HEADING: usize = 15;
const WHOLE_PROSE: usize = 60;
/// Pictures, or form fields, from which a page without text is whole.
const WHOLE_PICTURES: usize = 3;
const WHOLE_FIELDS: usize = 2;
/// Weight of new words, and their share of the old text in percent, from which a browser has added something.
const ADDED_TEXT: usize = 20;
const ADDED_PERCENT: usize = 10;

/// Why a page does or does not need a browser. The names are stable: they stand in `metadata.scrapeEngineReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrowserReason {
    /// It has enough text of its own.
    Content,
    /// It is short, but whole: a heading with text, paragraphs, pictures, a form.
    ShortPage,
    /// No script runs on it.
    NoScripts,
    /// Its scripts measure or decorate only.
    SideScripts,
    /// It sends its reader elsewhere.
    Redirect,
    /// It shows the documents of its frames.
    Frames,
    /// An error page that says little.
    ErrorPage,
    /// It checks its visitor.
    Challenge,
    /// The root of an application or the page's `main` is empty.
    EmptyMount,
    /// An element that a script of the page seems to fill is empty.
    EmptyTarget,
    /// It asks for JavaScript.
    AsksForScripts,
    /// Its `noscript` asks for JavaScript, and there is little else.
    Noscript,
    /// It shows a loader.
    Loader,
    /// It shows grey boxes.
    Skeleton,
    /// Its template expressions are not filled in.
    Template,
    /// It carries a framework's state instead of text.
    State,
    /// It has scripts and little text.
    LittleText,
    /// It has scripts and no text.
    NoText,
}

impl BrowserReason {
    /// All of them.
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

    /// Its name on the wire.
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

    /// Whether a page for this reason needs a browser.
    pub fn needs_browser(self) -> bool {
        self.certainty() != Certainty::None
    }

    /// How sure it is that the content of such a page is still to come.
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

    /// What a page shows in place of its content, for a warning; `None` unless that is sure.
    pub fn placeholder(self) -> Option<&'static str> {
        use BrowserReason::*;
        match self {
            Content | ShortPage | NoScripts | SideScripts | Redirect | Frames | ErrorPage | EmptyTarget
            | LittleText | NoText => None,
            Challenge => Some("a check of its visitor"),
            EmptyMount => Some("an application whose content has not arrived"),
            AsksForScripts | Noscript => Some("a request to enable JavaScript"),
            Loader => Some("a loading indicator"),
            Skeleton => Some("grey boxes"),
            Template => Some("a template that is not filled in"),
            State => Some("an application that has not been drawn"),
        }
    }
}

/// How sure it is that the content of a page is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Nothing says so.
    None,
    /// It would be short for a page.
    Low,
    /// Its scripts would have something to fill.
    Medium,
    /// It shows a placeholder.
    High,
}

/// Why a document was made of a plain response or of a browser's page. The names are stable: they stand in
/// `metadata.scrapeEngineReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineReason {
    /// What the page itself shows.
    Page(BrowserReason),
    /// The options need a browser.
    Requested,
    /// Earlier pages of the host needed one.
    Learned,
    /// The browser had nothing more for earlier pages of the host.
    Unhelpful,
    /// The browser had nothing more for this page.
    NothingAdded,
    /// The page needs a browser, and there is none.
    NoBrowser,
    /// The browser failed on the page.
    BrowserFailed,
}

impl EngineReason {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            EngineReason::Page(reason) => reason.name(),
            EngineReason::Requested => "requested",
            EngineReason::Learned => "learned",
            EngineReason::Unhelpful => "unhelpful",
            EngineReason::NothingAdded => "nothingAdded",
            EngineReason::NoBrowser => "noBrowser",
            EngineReason::BrowserFailed => "browserFailed",
        }
    }
}

/// Decides by the measures of a page and its HTTP status.
pub fn browser_need(signs: &Signs, status: u16) -> BrowserReason {
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
        () if signs.asks_in_text && text < REQUEST_TEXT => AsksForScripts,
        () if signs.skeletons >= SKELETONS && text < PLACEHOLDER_TEXT => Skeleton,
        () if signs.skeletons > 0 && text < LITTLE_TEXT => Skeleton,
        () if signs.loaders > 0 && text < LOADER_TEXT => Loader,
        () if signs.mount == Some(Mount::Target) && text < MOUNT_TEXT => EmptyTarget,
        () if signs.mount == Some(Mount::List) && text < LIST_TEXT => EmptyTarget,
        () if signs.mount == Some(Mount::Element) && text < LITTLE_TEXT && !whole => EmptyTarget,
        () if signs.asks_in_noscript && text < LITTLE_TEXT && !whole => Noscript,
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

/// How sure it is that the content of a page is still to come, as the page stands in a browser.
pub fn pending(html: &str, url: &Url, status: u16) -> Certainty {
    let mut signs = Page::parse(html, url).signs();
    signs.after_scripts();
    browser_need(&signs, status).certainty()
}

/// A short page that says what it has to say.
fn is_whole(signs: &Signs) -> bool {
    let below = signs.main_text - signs.headings;
    (signs.headings > 0 && below >= WHOLE_BELOW_HEADING)
        || signs.prose >= WHOLE_PROSE
        || signs.pictures >= WHOLE_PICTURES
        || signs.fields >= WHOLE_FIELDS
}

/// Whether the page as a browser has it holds more of its content than before: new words, or new pictures.
pub fn browser_added(before: &Signs, after: &Signs) -> bool {
    if after.pictures >= before.pictures + WHOLE_PICTURES {
        return true;
    }
    let known: HashSet<&str> = before.text.split_whitespace().collect();
    let new: usize = after
        .text
        .split_whitespace()
        .filter(|word| !known.contains(word))
        .map(|word| word.chars().count())
        .sum();
    // Text beyond what is kept of it counts by its weight alone.
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
    fn names_are_unique_and_only_what_needs_a_browser_is_a_placeholder() {
        let names: HashSet<_> = BrowserReason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), BrowserReason::ALL.len());
        for reason in BrowserReason::ALL {
            let is_sure = reason.certainty() == Certainty::High;
            assert_eq!(is_sure, reason.placeholder().is_some(), "{reason:?}");
        }
    }

    #[track_caller]
    fn added(before: &str, after: &str, expected: bool) {
        let signs = |text: &str| Signs {
            main_text: text.chars().filter(|c| !c.is_whitespace()).count(),
            text: text.to_owned(),
            ..Signs::default()
        };
        assert_eq!(
            browser_added(&signs(before), &signs(after)),
            expected,
            "{before} -> {after}"
        );
    }

    #[test]
    fn a_browser_adds_what_was_not_there() {
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
