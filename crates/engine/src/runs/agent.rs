//! One agent: a language model that finds and reads pages until it has the requested data, within its limits
//! of credits and steps. Without a model, reads the given pages (or those that a search finds) like an
//! extract.

use std::collections::HashSet;
use std::sync::Arc;

use harvestman_core::api::agent::{AgentMode, AgentRequest, Effort};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::extract::{ExtractRequest, ExtractTarget};
use harvestman_core::api::format::Format;
use harvestman_core::api::map::MapRequest;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::billing::{self, MAP_CREDITS, MODEL_CREDITS};
use harvestman_core::extract::{Schema, answer};
use harvestman_core::url_key::{Identity, UrlKey};
use harvestman_store::Lease;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::{Host, Url};

use super::agent_tools::{Asked, asked, tools};
use super::pages::{Page, Pages};
use super::{Found, choose, deadline, extract};
use crate::engine::{Inner, internal_error};
use crate::llm::{Llm, Message, Reply, ToolCall, marked};
use crate::map::Mapping;
use crate::{clock, limits, search};

const BEHAVIOUR: &str = include_str!("agent.txt");
const USE_TOOLS: &str =
    "Continue by calling a tool. When you have what the task asks for, call `done` with the result.";
/// Replaces the text of a page that was read long ago.
const READ_BEFORE: &str = "(omitted: you have already read this page)";

/// Runs the agent of a lease.
///
/// # Errors
/// If the model gives no result, or none of the pages can be read.
pub(super) async fn run(inner: &Arc<Inner>, lease: &Lease) -> Result<Found, ApiError> {
    let request = AgentRequest::from_json(lease.request.as_bytes())?;
    match inner.config.llm.clone() {
        Some(llm) => Agent::new(inner, lease, &request).run(&llm).await,
        None => extract::of_request(inner, lease, without_model(&request)).await,
    }
}

/// Returns the extract that replaces an agent if there is no model.
fn without_model(request: &AgentRequest) -> ExtractRequest {
    let target = |url: &TargetUrl| ExtractTarget {
        url: url.clone(),
        whole_site: false,
    };
    let searches = request.urls.is_empty();
    // Reading a page costs one credit.
    let search = match searches {
        true => billing::search(limits::EXTRACT_SEARCH_RESULTS),
        false => 0,
    };
    ExtractRequest {
        urls: request.urls.iter().map(target).collect(),
        prompt: Some(request.prompt.clone()),
        schema: request.schema.clone(),
        enable_web_search: searches,
        limit: Some(
            request
                .max_credits
                .saturating_sub(search)
                .min(limits::EXTRACT_PAGES_MAX),
        ),
        scrape_options: options(request),
        ..ExtractRequest::default()
    }
}

fn options(request: &AgentRequest) -> ScrapeOptions {
    ScrapeOptions {
        formats: vec![Format::Markdown],
        location: request.location.clone(),
        store_in_cache: !request.zero_data_retention,
        ..ScrapeOptions::default()
    }
}

/// A running agent.
struct Agent<'a> {
    inner: &'a Arc<Inner>,
    lease: &'a Lease,
    request: &'a AgentRequest,
    schema: Option<Schema>,
    options: Arc<ScrapeOptions>,
    pages: Pages<'a>,
    deadline: Instant,
    messages: Vec<Message>,
    /// Index and size in bytes of the messages that contain a page, oldest first.
    shown: Vec<(usize, usize)>,
    /// URLs that the user gave or a tool returned.
    known: HashSet<UrlKey>,
    found: Found,
}

impl<'a> Agent<'a> {
    fn new(inner: &'a Arc<Inner>, lease: &'a Lease, request: &'a AgentRequest) -> Self {
        Self {
            inner,
            lease,
            request,
            schema: request.schema.clone().map(Schema::new),
            options: Arc::new(options(request)),
            pages: Pages::new(inner, lease),
            deadline: deadline(None),
            messages: Vec::new(),
            shown: Vec::new(),
            known: request.urls.iter().map(|url| key(&url.url)).collect(),
            found: Found::default(),
        }
    }

    fn is_chat(&self) -> bool {
        self.request.mode == Some(AgentMode::Chat)
    }

    async fn run(mut self, llm: &Llm) -> Result<Found, ApiError> {
        let strict = self.request.strict_constrain_to_urls;
        let tools = tools(self.schema.as_ref().map(Schema::root), strict, self.is_chat());
        let most = match self.request.effort {
            Some(Effort::Low) => limits::RUN_STEPS_LOW,
            Some(Effort::Medium) | None => limits::RUN_STEPS,
            Some(Effort::High) => limits::RUN_STEPS_HIGH,
        };
        self.messages = vec![
            Message::System(BEHAVIOUR.trim_end().replace("{steps}", &most.to_string())),
            Message::User(self.task()),
        ];
        let (mut steps, mut silences, mut invalid) = (0, 0, 0);
        while steps < most {
            let reply = llm
                .chat(&self.messages, &tools, self.deadline)
                .await
                .map_err(|error| no_result(&error))?;
            if reply != Reply::default() {
                self.messages.push(Message::Assistant(reply.clone()));
            }
            if reply.calls.is_empty() {
                steps += 1;
                silences += 1;
                let said = reply.text.unwrap_or_default();
                if self.is_chat() && !said.is_empty() {
                    return Ok(self.finished(Value::String(said)));
                }
                // Some models write the result instead of calling `done`.
                if let Ok(read) = answer::parse(&said, self.schema.as_ref(), None) {
                    return Ok(self.finished(read.value));
                }
                if silences > limits::AGENT_SILENCES {
                    break;
                }
                self.messages.push(Message::User(USE_TOOLS.to_owned()));
                continue;
            }
            silences = 0;
            for call in &reply.calls {
                steps += 1;
                let text = match asked(call, strict) {
                    _ if steps > most => "not executed: no steps left".to_owned(),
                    Err(why) => format!("error: {why}"),
                    Ok(Asked::Done(result)) => match self.checked(result) {
                        Ok(value) => return Ok(self.finished(value)),
                        Err(why) => {
                            invalid += 1;
                            if invalid > limits::RUN_REPAIRS {
                                return Err(no_result(&format!("its result is invalid: {why}")));
                            }
                            format!("error: the result is invalid: {why} Correct it and call `done` again.")
                        }
                    },
                    Ok(action) => self.act(call, action).await?,
                };
                self.messages.push(Message::Tool {
                    id: call.id.clone(),
                    text,
                });
                self.forget_old_pages();
            }
        }
        Err(no_result(&format!("no result after {most} steps")))
    }

    fn task(&self) -> String {
        let mut task = format!("Task: {}", self.request.prompt);
        if !self.request.urls.is_empty() {
            let urls: Vec<&str> = self.request.urls.iter().map(|url| url.url.as_str()).collect();
            let how = if self.request.strict_constrain_to_urls {
                "Read only"
            } else {
                "Start with"
            };
            task.push_str(&format!("\n\n{how}:\n{}", urls.join("\n")));
        }
        if let Some(schema) = &self.schema {
            task.push_str(&format!("\n\nJSON Schema of the result:\n{}", schema.root()));
        }
        task
    }

    /// Returns a valid result, without fields that are not in the schema. The error is for the model.
    fn checked(&mut self, result: Value) -> Result<Value, String> {
        if self.is_chat() {
            return match result {
                Value::String(text) if !text.trim().is_empty() => Ok(Value::String(text)),
                _ => Err("`result` must be a string.".to_owned()),
            };
        }
        let read = answer::parse(&result.to_string(), self.schema.as_ref(), None);
        let read = read.map_err(|complaints| complaints.join(" "))?;
        Ok(read.value)
    }

    fn finished(mut self, value: Value) -> Found {
        match (self.is_chat(), value) {
            (true, Value::String(text)) => self.found.message = Some(text),
            (_, value) => self.found.data = Some(value),
        }
        self.found
    }

    /// Runs a tool call and returns its result for the model.
    ///
    /// # Errors
    /// If the team's budget is used up or the store fails.
    async fn act(&mut self, call: &ToolCall, action: Asked) -> Result<String, ApiError> {
        let (url, cost) = match &action {
            Asked::Scrape(url) => (Some(url), u64::from(1 + MODEL_CREDITS)),
            Asked::Map(url, _) => (Some(url), u64::from(MAP_CREDITS)),
            Asked::Search(_) => (None, billing::search(limits::RUN_SEARCH_RESULTS)),
            Asked::Done(_) => return Ok(String::new()),
        };
        if url.is_some_and(|url| !self.may_open(&url.url)) {
            return Ok("error: this URL was neither given by the user nor returned by a tool".to_owned());
        }
        if u64::from(self.found.credits) + cost > self.request.max_credits {
            return Ok("not executed: the credits are used up; call `done` with what you have".to_owned());
        }
        let text = match action {
            Asked::Search(query) => self.search(query).await?,
            Asked::Map(url, search) => self.map(&url, search.as_deref()).await,
            Asked::Scrape(url) => self.scrape(&url).await?,
            Asked::Done(_) => String::new(),
        };
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let told = json!({ "creditsUsed": self.found.credits, "action": call.name, "input": input });
        let noted = self
            .inner
            .store
            .add_action(self.lease, told.to_string(), clock::now())
            .await;
        noted.map_err(|error| internal_error(&error))?;
        self.inner.outbox.notify_one();
        Ok(text)
    }

    /// Returns whether the agent may open a URL: one that was given or returned by a tool, one on a host that
    /// the user gave, or, if the user gave no URL, the top page of any host. A URL made up by the model could
    /// leak what the agent has read.
    fn may_open(&self, url: &Url) -> bool {
        if self.known.contains(&key(url)) {
            return true;
        }
        if self.request.strict_constrain_to_urls {
            return false;
        }
        let is_plain = url.query().is_none() && url.fragment().is_none();
        let same_host = |known: &TargetUrl| known.url.host() == url.host();
        match self.request.urls.is_empty() {
            false => is_plain && self.request.urls.iter().any(same_host),
            true => is_plain && (url.path() == "/" || self.is_named(url)),
        }
    }

    /// Returns whether the prompt names the URL's host.
    fn is_named(&self, url: &Url) -> bool {
        match url.host() {
            Some(Host::Domain(host)) => self
                .request
                .prompt
                .to_lowercase()
                .contains(host.trim_start_matches("www.")),
            Some(host) => self.request.prompt.contains(&host.to_string()),
            None => false,
        }
    }

    async fn scrape(&mut self, url: &TargetUrl) -> Result<String, ApiError> {
        let page = match self.pages.read(url, &self.options, self.deadline).await {
            Err(error) if error.code == ErrorCode::InsufficientCredits => return Err(error),
            Err(error) => return Ok(format!("error: {}", error.message)),
            Ok(page) => page,
        };
        self.found.credits = self.found.credits.saturating_add(page.credits + MODEL_CREDITS);
        self.found.pages += 1;
        self.known.insert(key(&page.url));
        self.known.extend(page.links.iter().map(key));
        let text = shown(&page);
        self.shown.push((self.messages.len(), text.len()));
        Ok(text)
    }

    async fn map(&mut self, url: &TargetUrl, search: Option<&str>) -> String {
        let map = MapRequest {
            search: search.map(str::to_owned),
            limit: limits::RUN_MAP_LINKS,
            location: self.request.location.clone(),
            ..MapRequest::new(url.clone())
        };
        let mapping = Mapping::new(self.inner.clone(), self.lease.team, map).links();
        let links = match tokio::time::timeout_at(self.deadline, mapping).await {
            Ok(Ok(links)) => links,
            Ok(Err(error)) => return format!("error: {}", error.message),
            Err(_) => return "error: the time limit is reached".to_owned(),
        };
        self.found.credits = self.found.credits.saturating_add(MAP_CREDITS);
        let mut lines = Vec::with_capacity(links.len());
        for link in links {
            self.known.extend(Url::parse(&link.url).ok().as_ref().map(key));
            lines.push(match link.title {
                Some(title) => format!("{} {title}", link.url),
                None => link.url,
            });
        }
        marked(cut(&lines.join("\n"), limits::AGENT_READ_BYTES))
    }

    async fn search(&mut self, query: String) -> Result<String, ApiError> {
        let request = choose::search(query, limits::RUN_SEARCH_RESULTS, &self.request.location);
        let found = match search::pages(self.inner, self.lease.team, &request, self.deadline).await {
            Err(error) if error.code == ErrorCode::InsufficientCredits => return Err(error),
            Err(error) => return Ok(format!("error: {}", error.message)),
            Ok(found) => found,
        };
        self.found.credits = self.found.credits.saturating_add(found.credits);
        let mut lines = Vec::with_capacity(found.pages.len());
        for page in found.pages {
            self.known.extend(Url::parse(&page.url).ok().as_ref().map(key));
            let description = cut(&page.description, limits::AGENT_LINE_BYTES);
            lines.push(format!("{} {}\n{description}", page.url, page.title));
        }
        let results = marked(cut(&lines.join("\n\n"), limits::AGENT_READ_BYTES));
        let notes = found.warnings.join(" ");
        for warning in found.warnings {
            self.found.warn(warning);
        }
        Ok(format!("{notes}\n{results}").trim_start().to_owned())
    }

    /// Removes the oldest pages while all pages together exceed [`limits::RUN_TALK_BYTES`].
    fn forget_old_pages(&mut self) {
        let mut bytes: usize = self.shown.iter().map(|(_, bytes)| bytes).sum();
        while bytes > limits::RUN_TALK_BYTES && self.shown.len() > 1 {
            let (at, size) = self.shown.remove(0);
            if let Some(Message::Tool { text, .. }) = self.messages.get_mut(at) {
                READ_BEFORE.clone_into(text);
            }
            bytes -= size;
        }
    }
}

/// Formats a page for the model: its text, then its links.
fn shown(page: &Page) -> String {
    let markdown = page.document.markdown.as_deref().unwrap_or_default();
    let text = cut(markdown, limits::AGENT_PAGE_BYTES);
    let rest = if text.len() < markdown.len() {
        "\n(the rest is omitted)"
    } else {
        ""
    };
    let title = page.document.metadata.title.as_deref().unwrap_or_default();
    let status = page.document.metadata.status_code.unwrap_or(200);
    let links: Vec<&str> = page
        .links
        .iter()
        .take(limits::RUN_LINKS_SHOWN)
        .map(Url::as_str)
        .collect();
    let links = cut(&links.join("\n"), limits::AGENT_READ_BYTES).to_owned();
    marked(&format!(
        "URL: {}\nstatus: {status}\ntitle: {}\n\n{text}{rest}\n\nlinks:\n{links}",
        page.url,
        cut(title, limits::AGENT_LINE_BYTES)
    ))
}

fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn key(url: &Url) -> UrlKey {
    UrlKey::of(url, Identity::default())
}

/// Returns the error of a run without a result.
fn no_result(why: &(impl std::fmt::Display + ?Sized)) -> ApiError {
    ApiError::new(
        ErrorCode::AgentError,
        format!("the language model returned no result: {why}"),
    )
}
