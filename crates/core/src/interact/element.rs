//! Finds the element of a page that a name refers to: an exact match first, then case-insensitive, then
//! partial. A kind word such as `button` or `link` breaks ties but never rules out the only match.

/// An element as named in a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ElementRef {
    /// Its name; empty if the prompt gives only its kind or position.
    pub name: String,
    /// Its kind, if named.
    pub hint: Option<Hint>,
    /// Its index among several: 0 for the first, -1 for the last.
    pub nth: Option<i32>,
}

/// Kind word for an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// `button`.
    Button,
    /// `link`, `page`.
    Link,
    /// `field`, `box`, `input`.
    Field,
    /// `checkbox`, `radio button`, `switch`.
    Checkbox,
    /// `dropdown`, `list`, `menu`.
    List,
    /// `option`.
    Option,
    /// `tab`.
    Tab,
    /// `menu item`.
    Item,
    /// `image`, `picture`, `icon`.
    Image,
    /// `heading`, `headline`.
    Heading,
}

/// What a step does with an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementUse {
    /// Clicks it, or moves the pointer over it.
    Click,
    /// Types into it.
    Fill,
    /// Selects one of its options.
    Select,
    /// Checks or unchecks it.
    Check,
    /// Reads it or scrolls to it.
    Read,
}

const FIELDS: &[&str] = &[
    "textbox", "searchbox", "combobox", "spinbutton", "slider", "Date", "DateTime", "InputTime", "ColorWell",
];
const CHECKBOXES: &[&str] = &[
    "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "button",
];
const LISTS: &[&str] = &["combobox", "listbox"];

impl Hint {
    fn roles(self) -> &'static [&'static str] {
        match self {
            Hint::Button => &["button", "menuitem", "tab"],
            Hint::Link => &["link"],
            Hint::Field => FIELDS,
            Hint::Checkbox => CHECKBOXES,
            Hint::List => &["combobox", "listbox", "button", "menuitem"],
            Hint::Option => &["option", "menuitem", "radio", "treeitem"],
            Hint::Tab => &["tab", "link", "button"],
            Hint::Item => &["menuitem", "option", "treeitem", "link"],
            Hint::Image => &["image", "button", "link"],
            Hint::Heading => &["heading"],
        }
    }
}

impl ElementUse {
    /// Returns the roles that support this use; `None` for all.
    fn roles(self) -> Option<&'static [&'static str]> {
        match self {
            ElementUse::Click | ElementUse::Read => None,
            ElementUse::Fill => Some(FIELDS),
            ElementUse::Select => Some(LISTS),
            ElementUse::Check => Some(CHECKBOXES),
        }
    }
}

/// Returns the index of the element that `wanted` refers to among elements given as role and accessible name.
pub fn choose<'a>(
    elements: impl IntoIterator<Item = (&'a str, &'a str)>,
    wanted: &ElementRef,
    purpose: ElementUse,
) -> Option<usize> {
    let matching: Vec<(u32, usize)> = elements
        .into_iter()
        .enumerate()
        .filter_map(|(at, (role, name))| Some((rank(role, name, wanted, purpose)?, at)))
        .collect();
    let best = matching.iter().map(|(rank, _)| *rank).min()?;
    let best_matches: Vec<usize> = matching
        .iter()
        .filter(|(rank, _)| *rank == best)
        .map(|(_, at)| *at)
        .collect();
    match usize::try_from(wanted.nth.unwrap_or(0)) {
        Ok(nth) => best_matches.get(nth).copied(),
        Err(_) => best_matches.last().copied(),
    }
}

/// Returns how well an element matches, 0 being best; `None` if it does not.
fn rank(role: &str, name: &str, wanted: &ElementRef, purpose: ElementUse) -> Option<u32> {
    if purpose.roles().is_some_and(|roles| !roles.contains(&role)) {
        return None;
    }
    let is_of_kind = wanted.hint.is_none_or(|hint| hint.roles().contains(&role));
    let by_name = if wanted.name.is_empty() {
        // Only its kind is given.
        (is_of_kind && (wanted.hint.is_some() || wanted.nth.is_some())).then_some(0)
    } else {
        similarity(name, &wanted.name).or_else(|| search_box(role, &wanted.name))
    }?;
    // Prefer a clickable element to a heading or image of the same name.
    let is_static = purpose == ElementUse::Click
        && matches!(role, "heading" | "image" | "region" | "article" | "cell" | "main");
    Some(by_name * 4 + u32::from(!is_of_kind) * 2 + u32::from(is_static))
}

/// Returns how similar a name is to the one in the prompt, 0 being equal.
fn similarity(name: &str, prompt: &str) -> Option<u32> {
    if name == prompt {
        return Some(0);
    }
    let (name, prompt) = (normalized(name), normalized(prompt));
    if prompt.is_empty() || name.is_empty() {
        return None;
    }
    if name == prompt {
        return Some(1);
    }
    if format!(" {name} ").contains(&format!(" {prompt} ")) {
        return Some(2);
    }
    if name.contains(&prompt) {
        return Some(3);
    }
    let has_all_words = prompt
        .split(' ')
        .all(|word| name.split(' ').any(|of_name| of_name == word));
    if has_all_words {
        return Some(4);
    }
    // `email` and `E-mail`.
    let (name, prompt) = (name.replace(' ', ""), prompt.replace(' ', ""));
    (prompt.len() > 3 && name.contains(&prompt)).then_some(5)
}

/// Matches `search` with the search box, whatever its name.
fn search_box(role: &str, prompt: &str) -> Option<u32> {
    (role == "searchbox" && normalized(prompt).starts_with("search")).then_some(2)
}

/// Normalizes to lower-case words of letters and digits, separated by one space.
fn normalized(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: [(&str, &str); 14] = [
        ("heading", "Sign in"),
        ("link", "Home"),
        ("link", "Sign in with a code"),
        ("button", "Sign in"),
        ("textbox", "E-mail address"),
        ("textbox", "Password"),
        ("button", "Show password"),
        ("checkbox", "Remember me"),
        ("combobox", "Color"),
        ("link", "Add"),
        ("button", "Add"),
        ("button", "add"),
        ("button", "Read more"),
        ("searchbox", "What are you looking for?"),
    ];

    #[track_caller]
    fn check(name: &str, hint: Option<Hint>, nth: Option<i32>, purpose: ElementUse, found: Option<usize>) {
        let wanted = ElementRef {
            name: name.to_owned(),
            hint,
            nth,
        };
        assert_eq!(choose(PAGE, &wanted, purpose), found, "{wanted:?}");
    }

    #[test]
    fn the_most_similar_name_wins() {
        check("Sign in", None, None, ElementUse::Click, Some(3));
        check("sign in", None, None, ElementUse::Click, Some(3));
        check("Sign in", Some(Hint::Link), None, ElementUse::Click, Some(3));
        check("Sign in", Some(Hint::Heading), None, ElementUse::Read, Some(0));
        check("code", None, None, ElementUse::Click, Some(2));
        check("email", None, None, ElementUse::Fill, Some(4));
        check("e-mail", None, None, ElementUse::Fill, Some(4));
        check("address", None, None, ElementUse::Fill, Some(4));
        check("password", None, None, ElementUse::Fill, Some(5));
        check("password", None, None, ElementUse::Click, Some(5));
        check("show", None, None, ElementUse::Click, Some(6));
        check("remember", None, None, ElementUse::Check, Some(7));
        check("color", None, None, ElementUse::Select, Some(8));
        check("colour", None, None, ElementUse::Select, None);
        check("add", None, None, ElementUse::Click, Some(11));
        check("Add", None, None, ElementUse::Click, Some(9));
        check("Add", Some(Hint::Button), None, ElementUse::Click, Some(10));
        check("more", None, None, ElementUse::Click, Some(12));
        check("search", None, None, ElementUse::Fill, Some(13));
        check("nothing", None, None, ElementUse::Click, None);
    }

    #[test]
    fn a_kind_and_position_can_be_enough() {
        check("", Some(Hint::Link), Some(0), ElementUse::Click, Some(1));
        check("", Some(Hint::Link), Some(1), ElementUse::Click, Some(2));
        check("", Some(Hint::Link), Some(-1), ElementUse::Click, Some(9));
        check("", Some(Hint::Link), Some(7), ElementUse::Click, None);
        check("", Some(Hint::Field), None, ElementUse::Fill, Some(4));
        check("", None, None, ElementUse::Click, None);
    }
}
