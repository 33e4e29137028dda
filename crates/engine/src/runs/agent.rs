//! One agent: a language model that finds and reads pages until it has the requested data, within its limits
//! of credits and steps. Without a model, reads the given pages (or those that a search finds) like an
//! extract.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::FutureExt;
use harvestman_core::api::agent::{AgentMode, AgentRequest, Effort, StopReason};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::map::MapRequest;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::billing::{self, MAP_CREDITS, MODEL_CREDITS};
use harvestman_core::crawl::FetchedPage;
use harvestman_core::extract::{Schema, answer};
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::{Identity, UrlKey};
use harvestman_store::Lease;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::{Host, Url};

use super::agent_options::{as_extract, ignored_options, options};
use super::agent_tools::{AgentAction, AgentCall, parse_call, tools};
use super::progress::{Progress, TracedCall};
use super::thread::{self, EarlierRun};
use super::{RunOutcome, deadline, extract, page_selection};
use crate::context::Context;
use crate::llm::{Llm, LlmError, Message, Reply, Tool, ToolCall, mark_untrusted};
use crate::map::map_links;
use crate::page_visit::PageVisits;
use crate::{clock, limits, search};

const SYSTEM_PROMPT: &str = include_str!("agent.txt");
const USE_TOOLS: &str =
    "Continue by calling a tool. When you have what the task asks for, call `done` with the result.";
const LAST_CALL: &str = "No steps are left. Call `done` now with what you have.";
/// Replaces the text of a page that was read long ago.
const PAGE_OMITTED: &str = "(omitted: you have already read this page)";

/// Runs the agent of a lease.
///
/// # Errors
/// If the store fails.
pub(super) async fn run(context: &Arc<Context>, lease: &Lease) -> Result<RunOutcome, ApiError> {
    let request = AgentRequest::from_json(lease.request.as_bytes())?;
    let earlier = match request.thread_id {
        Some(thread) => thread::earlier_runs(context, lease, thread).await?,
        None => Vec::new(),
    };
    let mut outcome = RunOutcome::default();
    for warning in ignored_options(context, &request, !earlier.is_empty()) {
        outcome.warn(warning);
    }
    let progress = Progress::of(context, lease, !request.zero_data_retention).await?;
    Ok(match context.config.llm.clone() {
        Some(llm) => {
            Agent::new(context, lease, &request, &earlier, progress, outcome)
                .run(&llm)
                .await
        }
        None => extract::of_request(context, lease, as_extract(&request), progress, outcome).await,
    })
}

/// A running agent.
struct Agent<'a> {
    context: &'a Arc<Context>,
    lease: &'a Lease,
    request: &'a AgentRequest,
    /// Earlier runs of the thread, oldest first.
    earlier: &'a [EarlierRun],
    schema: Option<Schema>,
    visits: PageVisits,
    deadline: Instant,
    messages: Vec<Message>,
    /// Index and size in bytes of the messages that contain a page, oldest first.
    page_messages: Vec<(usize, usize)>,
    /// URLs that the user gave or a tool returned.
    known_urls: HashSet<UrlKey>,
    /// Whether a call was refused because of the credit limit.
    is_out_of_credits: bool,
    /// Number of invalid results of the model; `invalid_result` is the last of them.
    invalid_results: usize,
    invalid_result: Option<Value>,
    progress: Progress<'a>,
    outcome: RunOutcome,
}

/// Why an agent ended without a result.
struct Stop {
    /// `None` for an error of the server.
    reason: Option<StopReason>,
    error_type: &'static str,
    why: String,
}

impl Stop {
    fn new(reason: StopReason, why: impl Into<String>) -> Self {
        Self {
            reason: Some(reason),
            error_type: reason.as_str(),
            why: why.into(),
        }
    }
}

impl From<LlmError> for Stop {
    fn from(error: LlmError) -> Self {
        let reason = match error {
            LlmError::Timeout => StopReason::TimeLimit,
            _ => StopReason::ModelError,
        };
        Self::new(reason, no_result(&error))
    }
}

/// An error of the server, or of the team's budget.
impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        let is_unpaid = error.code == ErrorCode::InsufficientCredits;
        Self {
            reason: is_unpaid.then_some(StopReason::InsufficientCredits),
            error_type: error.code.as_str(),
            why: error.message,
        }
    }
}

impl<'a> Agent<'a> {
    fn new(
        context: &'a Arc<Context>,
        lease: &'a Lease,
        request: &'a AgentRequest,
        earlier: &'a [EarlierRun],
        progress: Progress<'a>,
        outcome: RunOutcome,
    ) -> Self {
        let given = request.urls.iter().map(|url| key(&url.url));
        let known_before = earlier
            .iter()
            .filter(|_| !request.strict_constrain_to_urls)
            .flat_map(|run| run.known_urls.iter().map(key));
        Self {
            context,
            lease,
            request,
            earlier,
            schema: request.schema.clone().map(Schema::new),
            visits: PageVisits::of_agent(context, lease, Arc::new(options(request))),
            deadline: deadline(None),
            messages: Vec::new(),
            page_messages: Vec::new(),
            known_urls: given.chain(known_before).collect(),
            is_out_of_credits: false,
            invalid_results: 0,
            invalid_result: None,
            progress,
            outcome,
        }
    }

    fn is_chat(&self) -> bool {
        self.request.mode == Some(AgentMode::Chat)
    }

    async fn run(mut self, llm: &Llm) -> RunOutcome {
        match self.find_result(llm).await {
            Ok(value) => match (self.is_chat(), value) {
                (true, Value::String(text)) => self.outcome.message = Some(text),
                (_, value) => self.outcome.data = Some(value),
            },
            Err(stop) => self.stop(stop),
        }
        self.outcome
    }

    /// Fails the run and keeps what it has found.
    fn stop(&mut self, stop: Stop) {
        self.outcome.fail(stop.why, stop.error_type);
        self.outcome.stop_reason = stop.reason;
        let stated = Some(self.progress.take_partial()).filter(|partial| !partial.is_null());
        let is_invalid = self.invalid_result.is_some();
        self.outcome.partial = self.invalid_result.take().or(stated);
        if self.outcome.partial.is_some() {
            self.outcome.warn(match is_invalid {
                true => "`partial` is the last result of the language model; it is not valid.",
                false => "`partial` contains data found on the pages without the language model.",
            });
        }
    }

    /// Lets the model call tools until it has a valid result.
    async fn find_result(&mut self, llm: &Llm) -> Result<Value, Stop> {
        let strict = self.request.strict_constrain_to_urls;
        let tools = tools(self.schema.as_ref().map(Schema::root), strict, self.is_chat());
        let max_steps = match self.request.effort {
            Some(Effort::Low) => limits::RUN_STEPS_LOW,
            Some(Effort::Medium) | None => limits::RUN_STEPS,
            Some(Effort::High) => limits::RUN_STEPS_HIGH,
        };
        self.start_conversation(max_steps);
        let (mut steps, mut replies_without_calls) = (0, 0);
        while steps < max_steps {
            let reply = llm.chat(&self.messages, &tools, self.deadline).await?;
            if reply != Reply::default() {
                self.messages.push(Message::Assistant(reply.clone()));
            }
            if reply.calls.is_empty() {
                steps += 1;
                replies_without_calls += 1;
                let is_last = replies_without_calls > limits::AGENT_REPLIES_WITHOUT_CALLS;
                let text = reply.text.unwrap_or_default();
                if let Some(answer) = self.answer_in_words(&text, is_last) {
                    return Ok(answer);
                }
                if is_last {
                    let why = no_result("it called no tool");
                    return Err(Stop::new(StopReason::InvalidResult, why));
                }
                self.messages.push(Message::User(USE_TOOLS.to_owned()));
                continue;
            }
            replies_without_calls = 0;
            for call in &reply.calls {
                steps += 1;
                if let Some(result) = self.answer_call(call, steps <= max_steps).await? {
                    return Ok(result);
                }
            }
        }
        self.last_result(llm, &tools, max_steps).await
    }

    /// Executes a tool call if steps are left, and adds its result to the conversation. Returns the value of a valid
    /// `done`.
    async fn answer_call(&mut self, call: &ToolCall, has_steps: bool) -> Result<Option<Value>, Stop> {
        let started_at = clock::now();
        let result = match parse_call(call, self.request.strict_constrain_to_urls) {
            _ if !has_steps => "not executed: no steps left".to_owned().into(),
            Err(why) => format!("error: {why}").into(),
            Ok(AgentCall::Done(result)) => match self.validate(result.clone()) {
                Ok(value) => return Ok(Some(value)),
                Err(why) => self.refuse(result, &why)?.into(),
            },
            Ok(AgentCall::Act(action)) => self.act(action).await?,
        };
        if has_steps {
            self.record(call, started_at, &result).await?;
        }
        self.messages.push(Message::Tool {
            id: call.id.clone(),
            text: result.text,
        });
        self.drop_old_pages();
        Ok(None)
    }

    /// Keeps an invalid result of the model, and returns the request to correct it.
    ///
    /// # Errors
    /// After too many of them.
    fn refuse(&mut self, result: Value, why: &str) -> Result<String, Stop> {
        self.invalid_results += 1;
        self.invalid_result = Some(result).filter(|result| !result.is_null());
        if self.invalid_results > limits::RUN_REPAIRS {
            let why = no_result(&format!("its result is invalid: {why}"));
            return Err(Stop::new(StopReason::InvalidResult, why));
        }
        Ok(format!(
            "error: the result is invalid: {why} Correct it and call `done` again."
        ))
    }

    fn start_conversation(&mut self, max_steps: usize) {
        let system = SYSTEM_PROMPT
            .trim_end()
            .replace("{steps}", &max_steps.to_string());
        self.messages.push(Message::System(system));
        for run in self.earlier {
            self.messages.push(Message::User(format!("Task: {}", run.prompt)));
            self.messages
                .push(Message::assistant(mark_untrusted(&run.answer)));
        }
        self.messages.push(Message::User(self.task()));
    }

    /// Returns a result that the model wrote instead of calling `done`. Plain text is a result in chat mode, and also
    /// without a schema if the model insists.
    fn answer_in_words(&self, text: &str, insists: bool) -> Option<Value> {
        let words = || Some(Value::String(text.trim().to_owned())).filter(|_| !text.trim().is_empty());
        if self.is_chat() {
            return words();
        }
        match answer::parse(text, self.schema.as_ref(), None) {
            Ok(read) => Some(read.value),
            Err(_) if insists && self.schema.is_none() => words(),
            Err(_) => None,
        }
    }

    /// Asks the model for what it has, now that its steps are used up.
    async fn last_result(&mut self, llm: &Llm, tools: &[Tool], max_steps: usize) -> Result<Value, Stop> {
        self.messages.push(Message::User(LAST_CALL.to_owned()));
        let done: Vec<Tool> = tools.iter().filter(|tool| tool.name == "done").cloned().collect();
        let reply = llm.chat(&self.messages, &done, self.deadline).await?;
        for call in &reply.calls {
            if let Ok(AgentCall::Done(result)) = parse_call(call, true) {
                match self.validate(result.clone()) {
                    Ok(value) => {
                        self.outcome.warn(format!(
                            "The agent used all of its {max_steps} steps; the result may be incomplete."
                        ));
                        return Ok(value);
                    }
                    Err(_) if !result.is_null() => self.invalid_result = Some(result),
                    Err(_) => {}
                }
            }
        }
        let reason = match self.is_out_of_credits {
            true => StopReason::CreditLimit,
            false => StopReason::StepLimit,
        };
        Err(Stop::new(
            reason,
            no_result(&format!("no result after {max_steps} steps")),
        ))
    }

    /// Stores a tool call with its result, and what the run has found so far.
    async fn record(
        &mut self,
        call: &ToolCall,
        started_at: Timestamp,
        result: &ToolResult,
    ) -> Result<(), ApiError> {
        let text = result.text.as_str();
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let was_executed = !text.starts_with("error: ") && !text.starts_with("not executed: ");
        let action = was_executed.then(
            || json!({ "creditsUsed": self.outcome.credits, "action": call.name, "input": input.clone() }),
        );
        self.progress.add_call(TracedCall {
            id: &call.id,
            tool: &call.name,
            parameters: input,
            started_at,
            result: text,
            page: result.page.as_deref(),
        });
        self.progress.store(&self.outcome.warnings, action).await
    }

    fn task(&self) -> String {
        let mut task = format!("Task: {}", self.request.prompt);
        if !self.request.urls.is_empty() {
            let urls: Vec<&str> = self.request.urls.iter().map(|url| url.url.as_str()).collect();
            let how = match self.request.strict_constrain_to_urls {
                true => "Read only",
                false => "Start with",
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
        if self.schema.is_none() && result.as_str().is_some_and(|text| !text.trim().is_empty()) {
            return Ok(result);
        }
        let read = answer::parse(&result.to_string(), self.schema.as_ref(), None);
        let read = read.map_err(|problems| problems.join(" "))?;
        Ok(read.value)
    }

    /// Runs a tool call and returns its result for the model.
    ///
    /// # Errors
    /// If the team's budget is used up or the store fails.
    async fn act(&mut self, action: AgentAction) -> Result<ToolResult, ApiError> {
        let (url, cost) = match &action {
            AgentAction::Scrape(url) => (Some(url), u64::from(1 + MODEL_CREDITS)),
            AgentAction::Map(url, _) => (Some(url), u64::from(MAP_CREDITS)),
            AgentAction::Search(_) => (None, billing::search(limits::RUN_SEARCH_RESULTS)),
        };
        if url.is_some_and(|url| !self.is_allowed(&url.url)) {
            let why = "error: this URL was neither given by the user nor returned by a tool";
            return Ok(why.to_owned().into());
        }
        if u64::from(self.outcome.credits) + cost > self.request.max_credits {
            self.is_out_of_credits = true;
            let why = "not executed: the credits are used up; call `done` with what you have";
            return Ok(why.to_owned().into());
        }
        match action {
            AgentAction::Search(query) => Ok(self.search(query).await?.into()),
            AgentAction::Map(url, search) => Ok(self.map(&url, search.as_deref()).await.into()),
            AgentAction::Scrape(url) => self.scrape(&url).await,
        }
    }

    /// Returns whether the agent may open a URL. It may open URLs that the user gave or a tool returned, and URLs
    /// without query or fragment on a host that the user gave. If the user gave no URL, it may also open such URLs on
    /// a host that the prompt names, and the top page of any host. A URL made up by the model could leak what the
    /// agent has read.
    fn is_allowed(&self, url: &Url) -> bool {
        if self.known_urls.contains(&key(url)) {
            return true;
        }
        if self.request.strict_constrain_to_urls {
            return false;
        }
        let is_plain = url.query().is_none() && url.fragment().is_none();
        let earlier = self.earlier.iter().flat_map(|run| &run.given_urls);
        let mut given = self.request.urls.iter().chain(earlier).peekable();
        match given.peek() {
            Some(_) => is_plain && given.any(|known| known.url.host() == url.host()),
            None => is_plain && (url.path() == "/" || self.is_in_prompt(url)),
        }
    }

    /// Lets the agent open a URL that a tool returned.
    fn allow(&mut self, url: &str) {
        self.known_urls.extend(Url::parse(url).ok().as_ref().map(key));
    }

    /// Returns whether a prompt of the user names the URL's host.
    fn is_in_prompt(&self, url: &Url) -> bool {
        let host = match url.host() {
            Some(Host::Domain(host)) => host.trim_start_matches("www.").to_owned(),
            Some(host) => host.to_string(),
            None => return false,
        };
        let earlier = self.earlier.iter().map(|run| &run.prompt);
        std::iter::once(&self.request.prompt)
            .chain(earlier)
            .any(|prompt| prompt.to_lowercase().contains(&host))
    }

    async fn scrape(&mut self, url: &TargetUrl) -> Result<ToolResult, ApiError> {
        let mut page = match self.visits.read(url, true, self.deadline).boxed().await {
            Err(error) if error.code == ErrorCode::InsufficientCredits => return Err(error),
            Err(error) => return Ok(format!("error: {}", error.message).into()),
            Ok(page) => page,
        };
        self.outcome.credits = self.outcome.credits.saturating_add(page.credits);
        // With a schema, the price of the page includes the model.
        if self.schema.is_none() {
            self.outcome.spend(self.context, self.lease, MODEL_CREDITS);
        }
        self.outcome.pages += 1;
        if page.status < 400
            && let Some(stated) = page.document.json.take()
        {
            self.progress.add_data(page.final_url.as_str(), stated);
        }
        self.known_urls.insert(key(&page.final_url));
        self.known_urls.extend(page.links.iter().map(key));
        let text = format_page(&page);
        self.page_messages.push((self.messages.len(), text.len()));
        Ok(ToolResult {
            text,
            page: Some(page.final_url.into()),
        })
    }

    async fn map(&mut self, url: &TargetUrl, search: Option<&str>) -> String {
        let map = MapRequest {
            search: search.map(str::to_owned),
            limit: limits::RUN_MAP_LINKS,
            location: self.request.location.clone(),
            ..MapRequest::new(url.clone())
        };
        let mapping = map_links(self.context, self.lease.team, &map, self.deadline);
        let links = match mapping.boxed().await {
            Ok(links) => links,
            Err(error) => return format!("error: {}", error.message),
        };
        self.outcome.spend(self.context, self.lease, MAP_CREDITS);
        let mut lines = Vec::with_capacity(links.len());
        for link in links {
            self.allow(&link.url);
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
        let results = match search::search_pages(
            self.context, self.lease.team, self.lease.job, &request, self.deadline,
        )
        .await
        {
            Err(error) if error.code == ErrorCode::InsufficientCredits => return Err(error),
            Err(error) => return Ok(format!("error: {}", error.message)),
            Ok(results) => results,
        };
        self.outcome.credits = self.outcome.credits.saturating_add(results.credits);
        let mut lines = Vec::with_capacity(results.pages.len());
        for page in results.pages {
            self.allow(&page.url);
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

/// What a tool returned.
struct ToolResult {
    /// For the model.
    text: String,
    /// URL of the page that was read.
    page: Option<String>,
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        let page = None;
        Self { text, page }
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

/// Returns the error text of a run without a result.
fn no_result(why: &(impl std::fmt::Display + ?Sized)) -> String {
    format!("the language model returned no result: {why}")
}
