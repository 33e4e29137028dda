//! Prompts for a live browser: carried out by a language model that is given the browser's commands as tools, or,
//! without one, by the steps that the prompt names.
//!
//! What a page says is data for the model, never an instruction; it is marked as such, and bounded. A model may be
//! wrong in every way: it is told so and goes on, for at most [`limits::AGENT_STEPS`] steps.

mod agent;
mod follow;
mod tools;

use harvestman_browser::commands::CommandError;
use harvestman_browser::{BrowserError, Execution, LiveBrowser};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::interact::steps::read_steps;
use tokio::time::Instant;

use crate::limits;
use crate::llm::{Llm, LlmError};

/// What a task led to. The execution of a prompt has the last snapshot of the page as its result, and what was done,
/// a line each, as its output.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outcome {
    /// The answer to a prompt; none when it did not come to one.
    pub(crate) output: Option<String>,
    pub(crate) execution: Execution,
}

impl From<Execution> for Outcome {
    fn from(execution: Execution) -> Self {
        Self {
            output: None,
            execution,
        }
    }
}

/// Refuses a prompt that nobody here can carry out, before anything is opened for it.
///
/// Errors: 503 with the words that are not understood.
pub(crate) fn check(prompt: &str, llm: Option<&Llm>) -> Result<(), ApiError> {
    if llm.is_some() {
        return Ok(());
    }
    read_steps(prompt).map(drop).map_err(|unknown| {
        let unknown: Vec<String> = unknown
            .iter()
            .map(|words| format!("`{}`", cut(words, 100)))
            .collect();
        let message = format!(
            "no language model is configured on this server, and without one it only carries out plain steps \
             (`click Sign in, type x into Email, press Enter, read the price`); not understood: {}",
            cut(&unknown.join(", "), limits::UNKNOWN_WORDS_CHARS)
        );
        ApiError::new(ErrorCode::NotConfigured, message)
    })
}

/// Carries a prompt out in the current page.
///
/// Errors: 502 when nothing of it has run, 503 as [`check`].
pub(crate) async fn run(
    browser: &LiveBrowser,
    prompt: &str,
    llm: Option<&Llm>,
    deadline: Instant,
) -> Result<Outcome, ApiError> {
    check(prompt, llm)?;
    let mut work = Work::new(browser, deadline);
    let ended = match llm {
        Some(llm) => agent::run(&mut work, prompt, llm).await,
        None => follow::run(&mut work, &read_steps(prompt).unwrap_or_default()).await,
    };
    match ended {
        Err(Failure::Browser(error)) if work.steps == 0 => {
            return Err(ApiError::new(ErrorCode::BrowserError, error.to_string()));
        }
        Err(Failure::Model(error)) if work.steps == 0 && error != LlmError::Timeout => {
            return Err(ApiError::new(ErrorCode::AgentError, error.to_string()));
        }
        Err(failure) => work.fail(&failure),
        Ok(()) => {}
    }
    let last_look = Instant::now() + limits::LAST_LOOK;
    if let Ok(snapshot) = browser.snapshot(false, last_look).await {
        work.outcome.execution.result = Some(snapshot.text);
    }
    Ok(work.outcome)
}

/// Why a prompt was not carried out to its end.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
enum Failure {
    /// Something about the page.
    #[error("{0}")]
    Page(String),
    #[error("it was not done in the time given")]
    Timeout,
    #[error("{0}")]
    Browser(BrowserError),
    #[error("{0}")]
    Model(LlmError),
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Failed(why) => Self::Page(why),
            CommandError::Timeout => Self::Timeout,
            CommandError::Browser(error) => Self::Browser(error),
        }
    }
}

/// A prompt being carried out.
struct Work<'a> {
    browser: &'a LiveBrowser,
    deadline: Instant,
    /// Commands that the browser was given.
    steps: usize,
    outcome: Outcome,
}

impl<'a> Work<'a> {
    fn new(browser: &'a LiveBrowser, deadline: Instant) -> Self {
        Self {
            browser,
            deadline,
            steps: 0,
            outcome: Outcome::default(),
        }
    }

    /// Notes what is done next.
    fn note(&mut self, line: &str) {
        self.steps += 1;
        let stdout = &mut self.outcome.execution.stdout;
        stdout.push_str(cut(line, limits::NOTE_BYTES));
        stdout.push('\n');
    }

    fn fail(&mut self, failure: &Failure) {
        let execution = &mut self.outcome.execution;
        execution.killed = matches!(failure, Failure::Timeout | Failure::Model(LlmError::Timeout))
            && Instant::now() >= self.deadline;
        execution.exit_code = if execution.killed { 124 } else { 1 };
        let why = failure.to_string();
        execution.stderr = format!("{why}\n");
        execution.error = Some(why);
    }
}

/// The beginning of a text, in bytes, never within a character.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_model_only_plain_steps_are_taken() {
        assert!(check("click Sign in, then read the price", None).is_ok());
        let error = check("Compare the offers. Then buy the best", None).unwrap_err();
        assert_eq!((error.code, error.status()), (ErrorCode::NotConfigured, 503));
        assert!(
            error.message.contains("`Compare the offers`, `buy the best`"),
            "{}",
            error.message
        );
        let long = check(&"compare things. ".repeat(500), None).unwrap_err();
        assert!(long.message.len() < 2_000);
    }
}
