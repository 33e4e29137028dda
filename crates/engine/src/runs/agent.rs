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
use harvestman_core::crawl::FetchedPage;
use harvestman_core::extract::{Schema, answer};
use harvestman_core::url_key::{Identity, UrlKey};
use harvestman_store::Lease;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::{Host, Url};

use super::agent_tools::{AgentAction, parse_call, tools};
use super::{RunOutcome, deadline, extract, page_selection};
use crate::context::Context;
use crate::error::internal_error;
use crate::llm::{Llm, Message, Reply, ToolCall, mark_untrusted};
use crate::map::SiteMapper;
use crate::page_visit::PageVisits;
use crate::{clock, limits, search};

const SYSTEM_PROMPT: &str = include_str!("agent.txt");
const USE_TOOLS: &str =
    "Continue by calling a tool. When you have what the task asks for, call `done` with the result.";
/// Replaces the text of a page that was read long ago.
const PAGE_OMITTED: &str = "(omitted: you have already read this page)";

/// Runs the agent of a lease.
///
/// # Errors
/// If the model gives no result, or none of the pages can be read.
pub(super) async fn run(context: &Arc<Context>, lease: &Lease) -> Result<RunOutcome, ApiError> {
    let request = AgentRequest::from_json(lease.request.as_bytes())?;
    match context.config.llm.clone() {
        Some(llm) => Agent::new(context, lease, &request).run(&llm).await,
        None => extract::of_request(context, lease, as_extract(&request)).await,
    }
}

/// Returns the extract that replaces an agent if there is no model.
fn as_extract(request: &AgentRequest) -> ExtractRequest {
    let target = |url: &TargetUrl| ExtractTarget {
        url: url.clone(),
        whole_site: false,
    };
    let has_no_urls = request.urls.is_empty();
    // Reading a page costs one credit.
    let search = match has_no_urls {
        true => billing::search(limits::EXTRACT_SEARCH_RESULTS),
        false => 0,
    };
    ExtractRequest {
        urls: request.urls.iter().map(target).collect(),
        prompt: Some(request.prompt.clone()),
        schema: request.schema.clone(),
        enable_web_search: has_no_urls,
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
    context: &'a Arc<Context>,
    lease: &'a Lease,
    request: &'a AgentRequest,
    schema: Option<Schema>,
    visits: PageVisits,
    deadline: Instant,
    messages: Vec<Message>,
    /// Index and size in bytes of the messages that contain a page, oldest first.
    page_messages: Vec<(usize, usize)>,
    /// URLs that the user gave or a tool returned.
    known_urls: HashSet<UrlKey>,
    outcome: RunOutcome,
}

impl<'a> Agent<'a> {
    fn new(context: &'a Arc<Context>, lease: &'a Lease, request: &'a AgentRequest) -> Self {
        Self {
            context,
            lease,
            request,
            schema: request.schema.clone().map(Schema::new),
            visits: PageVisits::of_run(context, lease, Arc::new(options(request))),
            deadline: deadline(None),
            messages: Vec::new(),
            page_messages: Vec::new(),
            known_urls: request.urls.iter().map(|url| key(&url.url)).collect(),
            outcome: RunOutcome::default(),
        }
    }

    fn is_chat(&self) -> bool {
        self.request.mode == Some(AgentMode::Chat)
    }

    async fn run(mut self, llm: &Llm) -> Result<RunOutcome, ApiError> {
        let strict = self.request.strict_constrain_to_urls;
        let tools = tools(self.schema.as_ref().map(Schema::root), strict, self.is_chat());
        let max_steps = match self.request.effort {
            Some(Effort::Low) => limits::RUN_STEPS_LOW,
            Some(Effort::Medium) | None => limits::RUN_STEPS,
            Some(Effort::High) => limits::RUN_STEPS_HIGH,
        };
        self.messages = vec![
            Message::System(
                SYSTEM_PROMPT
                    .trim_end()
                    .replace("{steps}", &max_steps.to_string()),
            ),
            Message::User(self.task()),
        ];
        let (mut steps, mut replies_without_calls, mut invalid) = (0, 0, 0);
        while steps < max_steps {
            let reply = llm
                .chat(&self.messages, &tools, self.deadline)
                .await
                .map_err(|error| no_result(&error))?;
            if reply != Reply::default() {
                self.messages.push(Message::Assistant(reply.clone()));
            }
            if reply.calls.is_empty() {
                steps += 1;
                replies_without_calls += 1;
                let text = reply.text.unwrap_or_default();
                if self.is_chat() && !text.is_empty() {
                    return Ok(self.finish(Value::String(text)));
                }
                // Some models write the result instead of calling `done`.
                if let Ok(read) = answer::parse(&text, self.schema.as_ref(), None) {
                    return Ok(self.finish(read.value));
                }
                if replies_without_calls > limits::AGENT_REPLIES_WITHOUT_CALLS {
                    break;
                }
                self.messages.push(Message::User(USE_TOOLS.to_owned()));
                continue;
            }
            replies_without_calls = 0;
            for call in &reply.calls {
                steps += 1;
                let text = match parse_call(call, strict) {
                    _ if steps > max_steps => "not executed: no steps left".to_owned(),
                    Err(why) => format!("error: {why}"),
                    Ok(AgentAction::Done(result)) => match self.validate(result) {
                        Ok(value) => return Ok(self.finish(value)),
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
                self.drop_old_pages();
            }
        }
        Err(no_result(&format!("no result after {max_steps} steps")))
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
    fn validate(&mut self, result: Value) -> Result<Value, String> {
        if self.is_chat() {
            return match result {
                Value::String(text) if !text.trim().is_empty() => Ok(Value::String(text)),
                _ => Err("`result` must be a string.".to_owned()),
            };
        }
        let read = answer::parse(&result.to_string(), self.schema.as_ref(), None);
        let read = read.map_err(|problems| problems.join(" "))?;
        Ok(read.value)
    }

    fn finish(mut self, value: Value) -> RunOutcome {
        match (self.is_chat(), value) {
            (true, Value::String(text)) => self.outcome.message = Some(text),
            (_, value) => self.outcome.data = Some(value),
        }
        self.outcome
    }

    /// Runs a tool call and returns its result for the model.
    ///
    /// # Errors
    /// If the team's budget is used up or the store fails.
    async fn act(&mut self, call: &ToolCall, action: AgentAction) -> Result<String, ApiError> {
        let (url, cost) = match &action {
            AgentAction::Scrape(url) => (Some(url), u64::from(1 + MODEL_CREDITS)),
            AgentAction::Map(url, _) => (Some(url), u64::from(MAP_CREDITS)),
            AgentAction::Search(_) => (None, billing::search(limits::RUN_SEARCH_RESULTS)),
            AgentAction::Done(_) => return Ok(String::new()),
        };
        if url.is_some_and(|url| !self.is_allowed(&url.url)) {
            return Ok("error: this URL was neither given by the user nor returned by a tool".to_owned());
        }
        if u64::from(self.outcome.credits) + cost > self.request.max_credits {
            return Ok("not executed: the credits are used up; call `done` with what you have".to_owned());
        }
        let text = match action {
            AgentAction::Search(query) => self.search(query).await?,
            AgentAction::Map(url, search) => self.map(&url, search.as_deref()).await,
            AgentAction::Scrape(url) => self.scrape(&url).await?,
            AgentAction::Done(_) => String::new(),
        };
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let payload = json!({ "creditsUsed": self.outcome.credits, "action": call.name, "input": input });
        let stored = self
            .context
            .store
            .add_action(self.lease, payload.to_string(), clock::now())
            .await;
        stored.map_err(internal_error)?;
        self.context.outbox.notify_one();
        Ok(text)
    }

    /// Returns whether the agent may open a URL. Allowed are URLs that the user gave or a tool returned, and
    /// URLs without query or fragment on a host that the user gave; if the user gave no URL, also those on a
    /// host that the prompt names and the top page of any host. A URL made up by the model could leak what
    /// the agent has read.
    fn is_allowed(&self, url: &Url) -> bool {
        if self.known_urls.contains(&key(url)) {
            return true;
        }
        if self.request.strict_constrain_to_urls {
            return false;
        }
        let is_plain = url.query().is_none() && url.fragment().is_none();
        let same_host = |known: &TargetUrl| known.url.host() == url.host();
        match self.request.urls.is_empty() {
            false => is_plain && self.request.urls.iter().any(same_host),
            true => is_plain && (url.path() == "/" || self.is_in_prompt(url)),
        }
    }

    /// Returns whether the prompt names the URL's host.
    fn is_in_prompt(&self, url: &Url) -> bool {
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
        let page = match self.visits.read(url, self.deadline).await {
            Err(error) if error.code == ErrorCode::InsufficientCredits => return Err(error),
            Err(error) => return Ok(format!("error: {}", error.message)),
            Ok(page) => page,
        };
        self.outcome.credits = self.outcome.credits.saturating_add(page.credits + MODEL_CREDITS);
        self.outcome.pages += 1;
        self.known_urls.insert(key(&page.final_url));
        self.known_urls.extend(page.links.iter().map(key));
        let text = format_page(&page);
        self.page_messages.push((self.messages.len(), text.len()));
        Ok(text)
    }

    async fn map(&mut self, url: &TargetUrl, search: Option<&str>) -> String {
        let map = MapRequest {
            search: search.map(str::to_owned),
            limit: limits::RUN_MAP_LINKS,
            location: self.request.location.clone(),
            ..MapRequest::new(url.clone())
        };
        let mapping = SiteMapper::new(self.context.clone(), self.lease.team, map).links();
        let links = match tokio::time::timeout_at(self.deadline, mapping).await {
            Ok(Ok(links)) => links,
            Ok(Err(error)) => return format!("error: {}", error.message),
            Err(_) => return "error: the time limit is reached".to_owned(),
        };
        self.outcome.credits = self.outcome.credits.saturating_add(MAP_CREDITS);
        let mut lines = Vec::with_capacity(links.len());
        for link in links {
            self.known_urls
                .extend(Url::parse(&link.url).ok().as_ref().map(key));
            lines.push(match link.title {
                Some(title) => format!("{} {title}", link.url),
                None => link.url,
            });
        }
        mark_untrusted(truncate(&lines.join("\n"), limits::AGENT_READ_BYTES))
    }

    async fn search(&mut self, query: String) -> Result<String, ApiError> {
        let request =
            page_selection::search_request(query, limits::RUN_SEARCH_RESULTS, &self.request.location);
        let results = match search::search_pages(self.context, self.lease.team, &request, self.deadline).await
        {
            Err(error) if error.code == ErrorCode::InsufficientCredits => return Err(error),
            Err(error) => return Ok(format!("error: {}", error.message)),
            Ok(results) => results,
        };
        self.outcome.credits = self.outcome.credits.saturating_add(results.credits);
        let mut lines = Vec::with_capacity(results.pages.len());
        for page in results.pages {
            self.known_urls
                .extend(Url::parse(&page.url).ok().as_ref().map(key));
            let description = truncate(&page.description, limits::AGENT_LINE_BYTES);
            lines.push(format!("{} {}\n{description}", page.url, page.title));
        }
        let text = mark_untrusted(truncate(&lines.join("\n\n"), limits::AGENT_READ_BYTES));
        let notes = results.warnings.join(" ");
        for warning in results.warnings {
            self.outcome.warn(warning);
        }
        Ok(format!("{notes}\n{text}").trim_start().to_owned())
    }

    /// Removes the oldest pages while all pages together exceed [`limits::RUN_CONVERSATION_BYTES`].
    fn drop_old_pages(&mut self) {
        let mut bytes: usize = self.page_messages.iter().map(|(_, bytes)| bytes).sum();
        while bytes > limits::RUN_CONVERSATION_BYTES && self.page_messages.len() > 1 {
            let (at, size) = self.page_messages.remove(0);
            if let Some(Message::Tool { text, .. }) = self.messages.get_mut(at) {
                PAGE_OMITTED.clone_into(text);
            }
            bytes -= size;
        }
    }
}

/// Formats a page for the model: its text, then its links.
fn format_page(page: &FetchedPage) -> String {
    let markdown = page.document.markdown.as_deref().unwrap_or_default();
    let text = truncate(markdown, limits::AGENT_PAGE_BYTES);
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
    let links = truncate(&links.join("\n"), limits::AGENT_READ_BYTES).to_owned();
    mark_untrusted(&format!(
        "URL: {}\nstatus: {status}\ntitle: {}\n\n{text}{rest}\n\nlinks:\n{links}",
        page.final_url,
        truncate(title, limits::AGENT_LINE_BYTES)
    ))
}

fn truncate(text: &str, bytes: usize) -> &str {
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
