//! Prompts for a live browser. A language model executes them with the browser's commands as tools. Without a model,
//! a prompt is read as plain steps, which are executed in order.
//!
//! Page content is data for the model, never an instruction: it is marked as such, and bounded. Whatever a
//! model gets wrong is reported back to it, and it continues for at most [`limits::AGENT_STEPS`] steps.

mod agent;
mod plain_steps;
mod tools;

use harvestman_browser::commands::CommandError;
use harvestman_browser::{BrowserError, Execution, LiveBrowser};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::interact::steps::parse_steps;
use tokio::time::Instant;

use crate::limits;
use crate::llm::{Llm, LlmError};

/// The result of code or of a prompt. For a prompt, the execution's result is the last snapshot of the page,
/// and its output lists what was done, one line each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TaskOutcome {
    /// The answer to a prompt; `None` if there is none.
    pub(crate) output: Option<String>,
    pub(crate) execution: Execution,
}

impl From<Execution> for TaskOutcome {
    fn from(execution: Execution) -> Self {
        Self {
            output: None,
            execution,
        }
    }
}

/// Rejects a prompt that this server cannot execute, before a browser is opened for it.
///
/// # Errors
/// 503 with the words that are not understood.
pub(crate) fn check(prompt: &str, llm: Option<&Llm>) -> Result<(), ApiError> {
    if llm.is_some() {
        return Ok(());
    }
    parse_steps(prompt).map(drop).map_err(|unknown| {
        let unknown: Vec<String> = unknown
            .iter()
            .map(|words| format!("`{}`", truncate(words, 100)))
            .collect();
        let message = format!(
            "no language model is configured on this server, and without one it only executes plain steps \
             (`click Sign in, type x into Email, press Enter, read the price`); not understood: {}",
            truncate(&unknown.join(", "), limits::UNKNOWN_WORDS_CHARS)
        );
        ApiError::new(ErrorCode::NotConfigured, message)
    })
}

/// Executes a prompt in the current page.
///
/// # Errors
/// 502 if no part of it has run; 503 as for [`check`].
pub(crate) async fn run(
    browser: &LiveBrowser,
    prompt: &str,
    llm: Option<&Llm>,
    deadline: Instant,
) -> Result<TaskOutcome, ApiError> {
    check(prompt, llm)?;
    let mut work = PromptRun::new(browser, deadline);
    let result = match llm {
        Some(llm) => agent::run(&mut work, prompt, llm).await,
        None => plain_steps::run(&mut work, &parse_steps(prompt).unwrap_or_default()).await,
    };
    match result {
        Err(PromptError::Browser(error)) if work.steps == 0 => {
            return Err(ApiError::new(ErrorCode::BrowserError, error.to_string()));
        }
        Err(PromptError::Model(error)) if work.steps == 0 && error != LlmError::Timeout => {
            return Err(ApiError::new(ErrorCode::AgentError, error.to_string()));
        }
        Err(error) => work.fail(&error),
        Ok(()) => {}
    }
    let snapshot_deadline = Instant::now() + limits::FINAL_SNAPSHOT_TIMEOUT;
    if let Ok(snapshot) = browser.snapshot(false, snapshot_deadline).await {
        work.outcome.execution.result = Some(snapshot.text);
    }
    Ok(work.outcome)
}

/// Why a prompt was not completed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
enum PromptError {
    /// The page or the task prevents it.
    #[error("{0}")]
    Page(String),
    #[error("the task did not finish in time")]
    Timeout,
    #[error("{0}")]
    Browser(BrowserError),
    #[error("{0}")]
    Model(LlmError),
}

impl From<CommandError> for PromptError {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Failed(why) => Self::Page(why),
            CommandError::Timeout => Self::Timeout,
            CommandError::Browser(error) => Self::Browser(error),
        }
    }
}

/// A prompt in execution.
struct PromptRun<'a> {
    browser: &'a LiveBrowser,
    deadline: Instant,
    /// Number of commands sent to the browser.
    steps: usize,
    outcome: TaskOutcome,
}

impl<'a> PromptRun<'a> {
    fn new(browser: &'a LiveBrowser, deadline: Instant) -> Self {
        Self {
            browser,
            deadline,
            steps: 0,
            outcome: TaskOutcome::default(),
        }
    }

    /// Records the next step.
    fn log_step(&mut self, line: &str) {
        self.steps += 1;
        let stdout = &mut self.outcome.execution.stdout;
        stdout.push_str(truncate(line, limits::PROMPT_LOG_LINE_BYTES));
        stdout.push('\n');
    }

    fn fail(&mut self, error: &PromptError) {
        let execution = &mut self.outcome.execution;
        execution.killed = matches!(
            error,
            PromptError::Timeout | PromptError::Model(LlmError::Timeout)
        ) && Instant::now() >= self.deadline;
        execution.exit_code = if execution.killed { 124 } else { 1 };
        let why = error.to_string();
        execution.stderr = format!("{why}\n");
        execution.error = Some(why);
    }
}

/// Returns at most the first `bytes` bytes of a text, cut at a character boundary.
fn truncate(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_model_only_plain_steps_are_accepted() {
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
