//! The request that a form edits, as a JSON body with only the values that differ from the defaults. Validation,
//! defaults and serialization come from the core. Partial input stays in the body until the core accepts it. Start
//! with [`Draft`].

use harvestman_client::ClientError;
use harvestman_core::api::agent::AgentRequest;
use harvestman_core::api::body::Body;
use harvestman_core::api::command::RequestCommand;
use harvestman_core::api::extract::ExtractRequest;
use harvestman_core::api::map::MapRequest;
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::{ApiError, BatchScrapeRequest, CrawlRequest, TargetUrl, Wire};
use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use serde_json::{Map, Value};

use crate::route::Screen;
use crate::{browser, storage};

/// Storage name of the default formats of new forms.
pub const FORMATS: &str = "formats";

/// URL in code examples while the form has none.
const EXAMPLE_URL: &str = "https://example.com";
/// Query in code examples while the form has none.
const EXAMPLE_QUERY: &str = "harvestmen of Europe";
/// Prompt in code examples while the form has none.
const EXAMPLE_TASK: &str = "Find the founders of Example Inc.";

/// The endpoint that a form sends to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `POST /v2/scrape`
    Scrape,
    /// `POST /v2/crawl`
    Crawl,
    /// `POST /v2/batch/scrape`
    Batch,
    /// `POST /v2/search`
    Search,
    /// `POST /v2/extract`
    Extract,
    /// `POST /v2/map`
    Map,
    /// `POST /v2/agent`
    Agent,
}

impl Endpoint {
    /// Returns the core's command for the endpoint.
    pub fn command(self) -> RequestCommand {
        match self {
            Endpoint::Scrape => RequestCommand::Scrape,
            Endpoint::Crawl => RequestCommand::Crawl,
            Endpoint::Batch => RequestCommand::Batch,
            Endpoint::Search => RequestCommand::Search,
            Endpoint::Extract => RequestCommand::Extract,
            Endpoint::Map => RequestCommand::Map,
            Endpoint::Agent => RequestCommand::Agent,
        }
    }

    /// Returns the path of the endpoint.
    pub fn path(self) -> &'static str {
        self.command().path()
    }

    /// Returns the path prefix of page options in the body, with a trailing dot; empty at the top level.
    pub fn page_prefix(self) -> &'static str {
        match self {
            Endpoint::Scrape | Endpoint::Batch | Endpoint::Map | Endpoint::Agent => "",
            Endpoint::Crawl | Endpoint::Search | Endpoint::Extract => "scrapeOptions.",
        }
    }

    /// Returns the storage name of the draft.
    pub fn draft_name(self) -> &'static str {
        match self {
            Endpoint::Scrape => "draft:scrape",
            Endpoint::Crawl => "draft:crawl",
            Endpoint::Batch => "draft:batch",
            Endpoint::Map => "draft:map",
            Endpoint::Search => "draft:search",
            Endpoint::Extract => "draft:extract",
            Endpoint::Agent => "draft:agent",
        }
    }

    /// Makes a body the draft of the form in this tab. Returns the path of the form.
    pub fn fill_form(self, body: &Value) -> &'static str {
        storage::write_of_tab(self.draft_name(), body);
        self.screen().path()
    }

    /// Returns the main field of the request, such as `url`. A console URL with this field starts a new form.
    pub fn subject(self) -> &'static str {
        self.command().subject()
    }

    /// Returns an example value of the main field, so that there is code to show for an empty form.
    fn example(self) -> Value {
        match self {
            Endpoint::Scrape | Endpoint::Crawl | Endpoint::Map => Value::from(EXAMPLE_URL),
            Endpoint::Search => Value::from(EXAMPLE_QUERY),
            Endpoint::Batch | Endpoint::Extract => Value::from(vec![EXAMPLE_URL]),
            Endpoint::Agent => Value::from(EXAMPLE_TASK),
        }
    }

    /// Returns the body of a new form.
    fn initial(self) -> Map<String, Value> {
        let mut initial = Map::new();
        match self {
            Endpoint::Scrape | Endpoint::Crawl | Endpoint::Batch => {
                let path = format!("{}formats", self.page_prefix());
                set(&mut initial, &path, storage::read(FORMATS));
            }
            Endpoint::Search | Endpoint::Map | Endpoint::Agent => {}
            Endpoint::Extract => set(&mut initial, "showSources", Some(Value::Bool(true))),
        }
        initial
    }

    /// Returns the screen of its form.
    pub fn screen(self) -> Screen {
        match self {
            Endpoint::Scrape => Screen::Scrape,
            Endpoint::Crawl => Screen::Crawl,
            Endpoint::Batch => Screen::Batch,
            Endpoint::Search => Screen::Search,
            Endpoint::Extract => Screen::Extract,
            Endpoint::Agent => Screen::Agent,
            Endpoint::Map => Screen::Map,
        }
    }

    /// Returns the body at the start: the query parameters on top of the stored draft, or on top of a new form if the
    /// query has the main field.
    fn starting_body(
        self,
        query: &ParamsMap,
        initial: &Map<String, Value>,
        stored: Option<Map<String, Value>>,
    ) -> Map<String, Value> {
        let stored = stored.filter(|_| query.get_str(self.subject()).is_none());
        let mut body = stored.unwrap_or_else(|| initial.clone());
        for (name, text) in query.clone() {
            if name != "run" && name != "id" {
                set(&mut body, &name, Some(self.value_of(&name, &text)));
            }
        }
        body
    }

    /// Returns the body that the form had when this entry of the history was left. A URL without a query has the draft
    /// of the tab instead.
    fn body_of_entry(self) -> Option<Map<String, Value>> {
        let state = browser::history_state(&self.screen().href())?;
        serde_json::from_str(&state).ok()
    }

    /// Keeps the body in this entry of the history, because its URL would fill the form again.
    fn keep_in_entry(self, body: &Map<String, Value>) {
        if let Ok(text) = serde_json::to_string(body) {
            browser::set_history_state(&self.screen().href(), &text);
        }
    }

    /// Parses a query parameter.
    fn value_of(self, name: &str, text: &str) -> Value {
        if name == self.subject() {
            return match self {
                Endpoint::Batch | Endpoint::Extract => text.split_whitespace().collect(),
                _ => Value::from(text),
            };
        }
        match serde_json::from_str(text) {
            Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Array(_))) => value,
            _ => Value::from(text),
        }
    }

    /// Returns every option with its default, from the core.
    fn defaults(self) -> Map<String, Value> {
        let Ok(example) = TargetUrl::parse(EXAMPLE_URL) else {
            return Map::new();
        };
        let mut options = match self {
            Endpoint::Scrape | Endpoint::Crawl => CrawlRequest::new(example).filled_options(),
            Endpoint::Batch => return BatchScrapeRequest::new(vec![example]).filled_options(),
            Endpoint::Map => return MapRequest::new(example).filled_options(),
            Endpoint::Extract => return ExtractRequest::default().filled_options(),
            Endpoint::Agent => {
                let example = Map::from_iter([("prompt".to_owned(), self.example())]);
                let request = AgentRequest::from_value(Value::Object(example));
                let mut options = request
                    .map(|request| request.filled_options())
                    .unwrap_or_default();
                options.remove("prompt");
                return options;
            }
            Endpoint::Search => {
                let mut options = SearchRequest {
                    scrape_options: Some(Default::default()),
                    ..SearchRequest::new(EXAMPLE_QUERY)
                }
                .filled_options();
                // A search scrapes its results only if formats are given.
                set(
                    &mut options,
                    "scrapeOptions.formats",
                    Some(Value::Array(Vec::new())),
                );
                return options;
            }
        };
        match (self, options.remove("scrapeOptions")) {
            (Endpoint::Scrape, Some(Value::Object(page))) => page,
            (Endpoint::Crawl, Some(page)) => {
                options.insert("scrapeOptions".to_owned(), page);
                options
            }
            _ => options,
        }
    }

    /// Returns the body as the core would send it, or the core's validation error.
    fn check(self, body: Map<String, Value>) -> Result<Body, ApiError> {
        self.command().check(Value::Object(body))
    }
}

/// A validation error of a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Keys and indexes joined by dots.
    pub path: String,
    /// Message that continues a sentence starting with the field name.
    pub message: String,
}

/// The request that a form edits.
#[derive(Clone, Copy)]
pub struct Draft {
    /// Its endpoint.
    pub endpoint: Endpoint,
    /// The body, including partial input.
    pub body: RwSignal<Map<String, Value>>,
    /// The body as the core would send it, or the validation error.
    pub validation: Memo<Result<Body, ApiError>>,
    /// The last valid body, for code; a missing main field is replaced by an example.
    pub last_valid: Memo<Body>,
    /// Validation error of the server, cleared by the next change.
    pub server_error: RwSignal<Option<ApiError>>,
    /// Whether the user tried to send the form, so that missing fields are reported too.
    pub submitted: RwSignal<bool>,
    /// Parse error of the JSON tab, cleared by the next change.
    pub json_error: RwSignal<Option<String>>,
    defaults: StoredValue<Map<String, Value>>,
    initial: StoredValue<Map<String, Value>>,
}

impl Draft {
    /// Restores the form of this entry of the history, else the stored draft with the query parameters of the console
    /// URL.
    pub fn restore(endpoint: Endpoint) -> Self {
        let query = endpoint.screen().query();
        let initial = endpoint.initial();
        let stored: Option<Map<String, Value>> = storage::read_of_tab(endpoint.draft_name());
        let stored = stored.filter(|stored| !stored.is_empty());
        let from_url = || query.with_untracked(|query| endpoint.starting_body(query, &initial, stored));
        let body = RwSignal::new(endpoint.body_of_entry().unwrap_or_else(from_url));
        // Navigating to the same screen with another main field starts a new form, unless it was left before.
        let initial_of_effect = initial.clone();
        Effect::new(move |before: Option<()>| {
            query.with(|query| {
                if before.is_none() {
                    return;
                }
                let linked = query.get_str(endpoint.subject());
                let from_url = || linked.map(|_| endpoint.starting_body(query, &initial_of_effect, None));
                if let Some(new) = endpoint.body_of_entry().or_else(from_url) {
                    body.set(new);
                }
            });
        });
        let server_error = RwSignal::new(None);
        let json_error = RwSignal::new(None);
        let validation = Memo::new(move |_| endpoint.check(body.get()));
        let last_valid = Memo::new(move |last: Option<&Body>| {
            let with_example = || {
                let mut body = body.get();
                body.entry(endpoint.subject())
                    .or_insert_with(|| endpoint.example());
                endpoint.check(body).ok()
            };
            let valid_body = validation
                .get()
                .ok()
                .or_else(with_example)
                .or_else(|| last.cloned());
            valid_body.unwrap_or_default()
        });
        Effect::new(move |before: Option<()>| {
            body.with(|body| {
                if before.is_some() {
                    storage::write_of_tab(endpoint.draft_name(), body);
                    endpoint.keep_in_entry(body);
                }
            });
            server_error.set(None);
            json_error.set(None);
        });
        Self {
            endpoint,
            body,
            validation,
            last_valid,
            server_error,
            submitted: RwSignal::new(false),
            json_error,
            defaults: StoredValue::new(endpoint.defaults()),
            initial: StoredValue::new(initial),
        }
    }

    /// Returns the value at a path if it is set.
    pub fn value(self, path: &str) -> Option<Value> {
        self.body.with(|body| at(body, path).cloned())
    }

    /// Returns the default at a path.
    pub fn default_of(self, path: &str) -> Option<Value> {
        self.defaults.with_value(|defaults| at(defaults, path).cloned())
    }

    /// Returns the value at a path, or its default.
    pub fn value_or_default(self, path: &str) -> Option<Value> {
        self.value(path).or_else(|| self.default_of(path))
    }

    /// Sets or clears a value. A value equal to the default is cleared.
    pub fn put(self, path: &str, value: Option<Value>) {
        let value = value.filter(|value| self.default_of(path).as_ref() != Some(value));
        self.body.update(|body| set(body, path, value));
    }

    /// Sets or clears a value, even if it equals the default.
    pub fn put_exactly(self, path: &str, value: Option<Value>) {
        self.body.update(|body| set(body, path, value));
    }

    /// Returns all validation errors: those of the core, then those of the server.
    pub fn problems(self) -> Vec<Problem> {
        let core = self
            .validation
            .with(|validation| validation.as_ref().err().map(problems_of));
        let server = self
            .server_error
            .with(|server_error| server_error.as_ref().map(problems_of));
        core.into_iter().chain(server).flatten().collect()
    }

    /// Returns the error of a field or of anything inside it, once the field is set or the user tried to send.
    pub fn problem_at(self, path: &str) -> Option<String> {
        let is_reported = self.submitted.get() || self.value(path).is_some();
        let problems = is_reported.then(|| self.problems()).into_iter().flatten();
        problems
            .into_iter()
            .find(|problem| is_under(&problem.path, path))
            .map(|problem| problem.message)
    }

    /// Returns the error of exactly this field or item, not of anything inside it, once the user tried to send.
    pub fn own_problem(self, path: &str) -> Option<String> {
        let problems = self.submitted.get().then(|| self.problems());
        let mut problems = problems.into_iter().flatten();
        problems
            .find(|problem| problem.path == path)
            .map(|problem| problem.message)
    }

    /// Returns the request if it is valid.
    pub fn request<R: Wire>(self) -> Option<R> {
        R::from_value(Value::Object(self.body.get_untracked())).ok()
    }

    /// Returns the request to send, and stores its draft, which may come from the URL. If it is invalid, moves the focus
    /// to the error summary instead.
    pub fn submit<R: Wire>(self) -> Option<R> {
        self.submitted.set(true);
        self.server_error.set(None);
        let json_is_valid = self.json_error.with_untracked(Option::is_none);
        let request = json_is_valid.then(|| self.request()).flatten();
        match request {
            Some(_) => self
                .body
                .with_untracked(|body| storage::write_of_tab(self.endpoint.draft_name(), body)),
            None => browser::focus_soon("[data-problems]"),
        }
        request
    }

    /// Stores the field errors of a server response.
    pub fn set_server_errors(self, error: &ClientError) {
        let at_fields = error.api().filter(|api| !problems_of(api).is_empty());
        self.server_error.try_set(at_fields.cloned());
    }

    /// Resets the form to its initial body with the user's default formats.
    pub fn clear(self) {
        self.body.set(self.initial.get_value());
        self.submitted.set(false);
    }
}

/// Returns the field errors in the details of an API error.
pub fn problems_of(error: &ApiError) -> Vec<Problem> {
    let details = error.details.as_ref().and_then(Value::as_array);
    details
        .into_iter()
        .flatten()
        .filter_map(|detail| {
            let parts = detail.get("path")?.as_array()?.iter();
            let parts: Vec<String> = parts
                .map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned))
                .collect();
            Some(Problem {
                path: parts.join("."),
                message: detail.get("message")?.as_str()?.to_owned(),
            })
        })
        .collect()
}

/// Returns whether `path` is `parent` or inside it.
pub fn is_under(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the value at a path of names and indexes joined by dots. A webhook given as a string counts as its `url`.
fn at<'a>(body: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        None => body.get(path),
        Some((first, rest)) => match body.get(first)? {
            Value::Object(inner) => at(inner, rest),
            Value::Array(items) => {
                let (index, rest) = rest.split_once('.').unwrap_or((rest, ""));
                match (items.get(index.parse::<usize>().ok()?)?, rest) {
                    (item, "") => Some(item),
                    (Value::Object(inner), rest) => at(inner, rest),
                    _ => None,
                }
            }
            url @ Value::String(_) if rest == "url" => Some(url),
            _ => None,
        },
    }
}

/// Sets or removes the value at a path. Creates objects as needed and removes them when empty. Does not add or remove
/// list items; an item that is a string becomes an object with that `type`.
fn set(body: &mut Map<String, Value>, path: &str, value: Option<Value>) {
    let Some((first, rest)) = path.split_once('.') else {
        match value {
            Some(value) => body.insert(path.to_owned(), value),
            None => body.remove(path),
        };
        return;
    };
    if let Some(Value::Array(items)) = body.get_mut(first) {
        let (index, rest) = rest.split_once('.').unwrap_or((rest, ""));
        let item = index.parse().ok().and_then(|index: usize| items.get_mut(index));
        match (item, value) {
            (Some(item), Some(value)) if rest.is_empty() => *item = value,
            (Some(item), value) if !rest.is_empty() => {
                let mut inner = match item.take() {
                    Value::Object(inner) => inner,
                    word => Map::from_iter([("type".to_owned(), word)]),
                };
                set(&mut inner, rest, value);
                *item = Value::Object(inner);
            }
            _ => {}
        }
        return;
    }
    let mut inner = match body.remove(first) {
        Some(Value::Object(inner)) => inner,
        Some(url @ Value::String(_)) => Map::from_iter([("url".to_owned(), url)]),
        _ => Map::new(),
    };
    set(&mut inner, rest, value);
    if !inner.is_empty() {
        body.insert(first.to_owned(), Value::Object(inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn objects_are_created_and_removed_with_their_fields() {
        let mut body = Map::new();
        set(&mut body, "scrapeOptions.location.country", Some(json!("DE")));
        assert_eq!(
            Value::Object(body.clone()),
            json!({"scrapeOptions": {"location": {"country": "DE"}}})
        );
        assert_eq!(at(&body, "scrapeOptions.location.country"), Some(&json!("DE")));
        set(&mut body, "scrapeOptions.location.country", None);
        assert!(body.is_empty());
    }

    #[test]
    fn list_items_are_addressed_by_index() {
        let mut body = object(json!({"actions": [{"type": "wait"}], "formats": ["markdown", "screenshot"]}));
        set(&mut body, "actions.0.selector", Some(json!("main")));
        set(&mut body, "formats.1.viewport.width", Some(json!(800)));
        set(&mut body, "actions.1.selector", Some(json!("beyond the last")));
        assert_eq!(
            Value::Object(body.clone()),
            json!({
                "actions": [{"type": "wait", "selector": "main"}],
                "formats": ["markdown", {"type": "screenshot", "viewport": {"width": 800}}],
            })
        );
        assert_eq!(at(&body, "actions.0.selector"), Some(&json!("main")));
        assert_eq!(at(&body, "formats.0"), Some(&json!("markdown")));
        assert_eq!(at(&body, "formats.0.quality"), None);
        set(&mut body, "actions.0.selector", None);
        assert_eq!(body["actions"], json!([{"type": "wait"}]));
    }

    #[test]
    fn a_webhook_string_counts_as_its_url() {
        let mut body = object(json!({"webhook": "https://e.com/hook"}));
        assert_eq!(at(&body, "webhook.url"), Some(&json!("https://e.com/hook")));
        set(&mut body, "webhook.events", Some(json!(["page"])));
        assert_eq!(
            body["webhook"],
            json!({"url": "https://e.com/hook", "events": ["page"]})
        );
    }

    #[test]
    fn validation_errors_of_the_core_have_paths() {
        let error = Endpoint::Crawl.check(object(
            json!({"url": "x", "limit": "many", "scrapeOptions": {"timeout": 1}}),
        ));
        let problems = problems_of(&error.unwrap_err());
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert!(
            paths.contains(&"limit") && paths.contains(&"scrapeOptions.timeout"),
            "{paths:?}"
        );
        assert!(is_under("formats.0.type", "formats") && !is_under("formatsX", "formats"));
    }

    #[test]
    fn values_equal_to_defaults_are_not_sent() {
        let body = object(json!({"url": "https://e.com", "mobile": false, "timeout": 5000}));
        let written = serde_json::to_string(&Endpoint::Scrape.check(body).unwrap()).unwrap();
        assert_eq!(written, r#"{"url":"https://e.com","timeout":5000}"#);
    }

    #[test]
    fn defaults_come_from_the_core() {
        assert_eq!(
            at(&Endpoint::Crawl.defaults(), "scrapeOptions.timeout"),
            Some(&json!(60_000))
        );
        assert_eq!(
            at(&Endpoint::Scrape.defaults(), "maxAge"),
            Some(&json!(172_800_000))
        );
        assert_eq!(at(&Endpoint::Crawl.defaults(), "limit"), Some(&json!(10_000)));
        let search = Endpoint::Search.defaults();
        let page = |name: &str| at(&search, &format!("scrapeOptions.{name}")).cloned();
        assert_eq!(page("onlyMainContent"), Some(json!(true)));
        assert_eq!(page("timeout"), Some(json!(60_000)));
        assert_eq!(page("proxy"), Some(json!("auto")));
        assert_eq!(page("formats"), Some(json!([])));
    }
}
