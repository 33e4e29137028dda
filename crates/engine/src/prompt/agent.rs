//! The agent loop: sends the page to the model, runs its tool calls in the browser, sends the results back.

use harvestman_browser::commands::{Command, CommandError, Property};

use super::tools::{ToolRequest, parse_call, tools};
use super::{PromptError, PromptRun, truncate};
use crate::limits;
use crate::llm::{Llm, Message, Reply, ToolCall, mark_untrusted};

const SYSTEM_PROMPT: &str = include_str!("agent.txt");
/// Sent to a model that replies without calling a tool.
const USE_TOOLS: &str =
    "Continue by calling a tool. When the task is done, or cannot be done, call `done` with the answer.";

/// A conversation about one prompt.
struct Conversation<'a, 'b> {
    work: &'a mut PromptRun<'b>,
    messages: Vec<Message>,
    /// Index of the message that ends with the newest snapshot, and its text without the snapshot.
    latest_snapshot: Option<(usize, String)>,
}

/// Lets the model execute the prompt.
pub(super) async fn run(work: &mut PromptRun<'_>, prompt: &str, llm: &Llm) -> Result<(), PromptError> {
    let steps = limits::AGENT_STEPS.to_string();
    let mut conversation = Conversation {
        work,
        messages: vec![Message::System(SYSTEM_PROMPT.replace("{steps}", &steps))],
        latest_snapshot: None,
    };
    conversation
        .push_with_page(Message::User(format!("Task: {prompt}")))
        .await?;
    let tools = tools();
    let mut steps = 0;
    let mut replies_without_calls = 0;
    while steps < limits::AGENT_STEPS {
        let reply = llm
            .chat(&conversation.messages, &tools, conversation.work.deadline)
            .await
            .map_err(PromptError::Model)?;
        // Endpoints reject messages without content.
        if reply != Reply::default() {
            conversation.messages.push(Message::Assistant(reply.clone()));
        }
        if reply.calls.is_empty() {
            steps += 1;
            replies_without_calls += 1;
            if replies_without_calls < limits::AGENT_REPLIES_WITHOUT_CALLS {
                conversation.messages.push(Message::User(USE_TOOLS.to_owned()));
                continue;
            }
            // The model does not use its tools: take its text as the answer.
            let Reply { text: Some(text), .. } = reply else {
                return Err(PromptError::Page(
                    "the language model returned no answer".to_owned(),
                ));
            };
            conversation.work.outcome.output = Some(text);
            return Ok(());
        }
        replies_without_calls = 0;
        if conversation.calls(&reply.calls, &mut steps).await? {
            return Ok(());
        }
    }
    Err(PromptError::Page(format!(
        "the task was not completed within {} steps",
        limits::AGENT_STEPS
    )))
}

impl Conversation<'_, '_> {
    /// Runs the calls of one reply and returns whether the model is done. Every call gets a result.
    async fn calls(&mut self, calls: &[ToolCall], steps: &mut usize) -> Result<bool, PromptError> {
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            let result = match parse_call(call) {
                _ if *steps >= limits::AGENT_STEPS => "not executed: no steps left".to_owned(),
                Err(why) => format!("error: {why}"),
                Ok(ToolRequest::Done(answer)) => {
                    self.work.outcome.output = Some(answer);
                    return Ok(true);
                }
                Ok(ToolRequest::Snapshot) => "the page is:".to_owned(),
                Ok(ToolRequest::Command(command, note)) => self.act(&command, &note).await?,
            };
            *steps += 1;
            results.push(Message::Tool {
                id: call.id.clone(),
                text: result,
            });
        }
        // References change with each snapshot, so take only one, after all calls that use the old
        // references.
        let last = results.pop();
        self.messages.append(&mut results);
        if let Some(last) = last {
            self.push_with_page(last).await?;
        }
        Ok(false)
    }

    async fn act(&mut self, command: &Command, note: &str) -> Result<String, PromptError> {
        self.work.log_step(note);
        let done = self.work.browser.command(command, self.work.deadline).await;
        match done {
            Ok(text) if matches!(command, Command::Read(_)) => {
                Ok(mark_untrusted(truncate(&text, limits::AGENT_READ_BYTES)))
            }
            Ok(text) => Ok(text),
            Err(CommandError::Failed(why)) => Ok(format!("error: {why}")),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds a message with a snapshot of the page; removes the snapshot from the earlier message.
    async fn push_with_page(&mut self, message: Message) -> Result<(), PromptError> {
        let page = self.page().await?;
        if let Some((at, without_snapshot)) = self.latest_snapshot.take() {
            set_text(&mut self.messages[at], without_snapshot);
        }
        let text = match &message {
            Message::User(text) | Message::Tool { text, .. } | Message::System(text) => text.clone(),
            Message::Assistant(_) => String::new(),
        };
        let mut message = message;
        set_text(&mut message, format!("{text}\n\n{page}"));
        self.latest_snapshot = Some((self.messages.len(), text));
        self.messages.push(message);
        Ok(())
    }

    /// Returns the page for the model. If the full snapshot is too long, only elements that take input are
    /// included.
    async fn page(&self) -> Result<String, PromptError> {
        let PromptRun {
            browser, deadline, ..
        } = *self.work;
        let mut snapshot = browser.snapshot(false, deadline).await?;
        let mut note = "";
        if snapshot.text.len() > limits::AGENT_PAGE_BYTES {
            snapshot = browser.snapshot(true, deadline).await?;
            note = "(only elements that take input: the page is long; use `read` for its text)\n";
        }
        let is_complete = snapshot.text.len() <= limits::AGENT_PAGE_BYTES;
        let text = match is_complete {
            true => snapshot.text.as_str(),
            false => {
                let text = truncate(&snapshot.text, limits::AGENT_PAGE_BYTES);
                text.rsplit_once('\n').map_or(text, |(lines, _)| lines)
            }
        };
        let url = browser.command(&Command::Get(Property::Url), deadline).await?;
        let title = browser.command(&Command::Get(Property::Title), deadline).await?;
        let rest = if is_complete {
            ""
        } else {
            "\n(the rest is omitted)"
        };
        Ok(mark_untrusted(&format!(
            "{note}URL: {}\ntitle: {}\n{text}{rest}",
            truncate(&url, limits::AGENT_LINE_BYTES),
            truncate(&title, limits::AGENT_LINE_BYTES)
        )))
    }
}

fn set_text(message: &mut Message, new: String) {
    match message {
        Message::System(text) | Message::User(text) | Message::Tool { text, .. } => *text = new,
        Message::Assistant(_) => {}
    }
}
