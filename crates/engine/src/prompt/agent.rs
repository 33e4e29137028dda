//! The agent loop: sends the page to the model, runs its tool calls in the browser, sends the results back.

use harvestman_browser::commands::{Asked as Get, Command, CommandError};

use super::tools::{Asked, asked, tools};
use super::{Failure, Work, cut};
use crate::limits;
use crate::llm::{Llm, Message, Reply, ToolCall, marked};

const BEHAVIOUR: &str = include_str!("agent.txt");
/// Sent to a model that replies without calling a tool.
const USE_TOOLS: &str =
    "Continue by calling a tool. When the task is done, or cannot be done, call `done` with the answer.";

/// A conversation about one prompt.
struct Talk<'a, 'b> {
    work: &'a mut Work<'b>,
    messages: Vec<Message>,
    /// Index of the message that ends with the newest snapshot, and its text without the snapshot.
    newest: Option<(usize, String)>,
}

/// Lets the model execute the prompt.
pub(super) async fn run(work: &mut Work<'_>, prompt: &str, llm: &Llm) -> Result<(), Failure> {
    let steps = limits::AGENT_STEPS.to_string();
    let mut talk = Talk {
        work,
        messages: vec![Message::System(BEHAVIOUR.replace("{steps}", &steps))],
        newest: None,
    };
    talk.say_with_page(Message::User(format!("Task: {prompt}")))
        .await?;
    let tools = tools();
    let mut steps = 0;
    let mut silences = 0;
    while steps < limits::AGENT_STEPS {
        let reply = llm
            .chat(&talk.messages, &tools, talk.work.deadline)
            .await
            .map_err(Failure::Model)?;
        // Endpoints reject messages without content.
        if reply != Reply::default() {
            talk.messages.push(Message::Assistant(reply.clone()));
        }
        if reply.calls.is_empty() {
            steps += 1;
            silences += 1;
            if silences < limits::AGENT_SILENCES {
                talk.messages.push(Message::User(USE_TOOLS.to_owned()));
                continue;
            }
            // The model does not use its tools: take its text as the answer.
            let Reply { text: Some(text), .. } = reply else {
                return Err(Failure::Page("the language model returned no answer".to_owned()));
            };
            talk.work.outcome.output = Some(text);
            return Ok(());
        }
        silences = 0;
        if talk.calls(&reply.calls, &mut steps).await? {
            return Ok(());
        }
    }
    Err(Failure::Page(format!(
        "the task was not completed within {} steps",
        limits::AGENT_STEPS
    )))
}

impl Talk<'_, '_> {
    /// Runs the calls of one reply and returns whether the model is done. Every call gets a result.
    async fn calls(&mut self, calls: &[ToolCall], steps: &mut usize) -> Result<bool, Failure> {
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            let result = match asked(call) {
                _ if *steps >= limits::AGENT_STEPS => "not executed: no steps left".to_owned(),
                Err(why) => format!("error: {why}"),
                Ok(Asked::Done(answer)) => {
                    self.work.outcome.output = Some(answer);
                    return Ok(true);
                }
                Ok(Asked::Look) => "the page is:".to_owned(),
                Ok(Asked::Do(command, note)) => self.act(&command, &note).await?,
            };
            *steps += 1;
            answers.push(Message::Tool {
                id: call.id.clone(),
                text: result,
            });
        }
        // References change with each snapshot, so take only one, after all calls that use the old
        // references.
        let last = answers.pop();
        self.messages.append(&mut answers);
        if let Some(last) = last {
            self.say_with_page(last).await?;
        }
        Ok(false)
    }

    async fn act(&mut self, command: &Command, note: &str) -> Result<String, Failure> {
        self.work.note(note);
        let done = self.work.browser.command(command, self.work.deadline).await;
        match done {
            Ok(text) if matches!(command, Command::Read(_)) => {
                Ok(marked(cut(&text, limits::AGENT_READ_BYTES)))
            }
            Ok(text) => Ok(text),
            Err(CommandError::Failed(why)) => Ok(format!("error: {why}")),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds a message with a snapshot of the page; removes the snapshot from the earlier message.
    async fn say_with_page(&mut self, message: Message) -> Result<(), Failure> {
        let page = self.page().await?;
        if let Some((at, without)) = self.newest.take() {
            set_text(&mut self.messages[at], without);
        }
        let said = match &message {
            Message::User(text) | Message::Tool { text, .. } | Message::System(text) => text.clone(),
            Message::Assistant(_) => String::new(),
        };
        let mut message = message;
        set_text(&mut message, format!("{said}\n\n{page}"));
        self.newest = Some((self.messages.len(), said));
        self.messages.push(message);
        Ok(())
    }

    /// Returns the page for the model. If the full snapshot is too long, only elements that take input are
    /// included.
    async fn page(&self) -> Result<String, Failure> {
        let Work {
            browser, deadline, ..
        } = *self.work;
        let mut snapshot = browser.snapshot(false, deadline).await?;
        let mut note = "";
        if snapshot.text.len() > limits::AGENT_PAGE_BYTES {
            snapshot = browser.snapshot(true, deadline).await?;
            note = "(only elements that take input: the page is long; use `read` for its text)\n";
        }
        let whole = snapshot.text.len() <= limits::AGENT_PAGE_BYTES;
        let text = match whole {
            true => snapshot.text.as_str(),
            false => {
                let text = cut(&snapshot.text, limits::AGENT_PAGE_BYTES);
                text.rsplit_once('\n').map_or(text, |(lines, _)| lines)
            }
        };
        let url = browser.command(&Command::Get(Get::Url), deadline).await?;
        let title = browser.command(&Command::Get(Get::Title), deadline).await?;
        let rest = if whole { "" } else { "\n(the rest is omitted)" };
        Ok(marked(&format!(
            "{note}URL: {}\ntitle: {}\n{text}{rest}",
            cut(&url, limits::AGENT_LINE_BYTES),
            cut(&title, limits::AGENT_LINE_BYTES)
        )))
    }
}

fn set_text(message: &mut Message, new: String) {
    match message {
        Message::System(text) | Message::User(text) | Message::Tool { text, .. } => *text = new,
        Message::Assistant(_) => {}
    }
}
