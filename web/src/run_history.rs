//! The history of code and prompts that this browser ran in sessions, kept in local storage so that the session
//! screen can show and repeat them. Long outputs are truncated.

use harvestman_core::api::interact::{ExecuteResponse, Language, Task};
use serde::{Deserialize, Serialize};

use crate::limits::{RUNS_PER_SESSION, STORED_OUTPUT_CHARS, STORED_SESSIONS};
use crate::storage;

const NAME: &str = "calls";

/// One run and its outcome.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Start, ms since 1970.
    pub at: f64,
    /// Duration, ms.
    pub took_ms: f64,
    /// A language, or `prompt`.
    pub kind: String,
    /// The code or the prompt.
    pub text: String,
    /// Timeout, seconds.
    pub timeout: f64,
    /// The server's response, or the error message.
    pub outcome: Result<ExecuteResponse, String>,
}

impl Run {
    /// Returns the kind of a task (see [`Run::kind`]) and its text.
    pub fn kind_and_text(task: &Task) -> (&'static str, &str) {
        match task {
            Task::Code { code, language } => (language.as_str(), code),
            Task::Prompt(prompt) => ("prompt", prompt),
        }
    }

    /// Returns the task, to run it again.
    pub fn task(&self) -> Task {
        match Language::parse(&self.kind) {
            Some(language) => Task::Code {
                code: self.text.clone(),
                language,
            },
            None => Task::Prompt(self.text.clone()),
        }
    }

    /// Returns whether the run succeeded.
    pub fn succeeded(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|response| response.success)
    }
}

#[derive(Serialize, Deserialize)]
struct SessionRuns {
    session: String,
    // The name in stored data.
    calls: Vec<Run>,
}

/// Loads the runs of a session, newest first.
pub fn load(session: &str) -> Vec<Run> {
    let all: Vec<SessionRuns> = storage::read(NAME).unwrap_or_default();
    let entry = all.into_iter().find(|entry| entry.session == session);
    entry.map(|entry| entry.calls).unwrap_or_default()
}

/// Adds a run to those of a session.
pub fn add(session: &str, run: &Run) {
    let mut all: Vec<SessionRuns> = storage::read(NAME).unwrap_or_default();
    let known = all.iter().position(|entry| entry.session == session);
    let mut calls = known.map(|at| all.remove(at).calls).unwrap_or_default();
    calls.insert(0, truncated(run));
    calls.truncate(RUNS_PER_SESSION);
    all.insert(
        0,
        SessionRuns {
            session: session.to_owned(),
            calls,
        },
    );
    all.truncate(STORED_SESSIONS);
    storage::write(NAME, &all);
}

fn truncated(run: &Run) -> Run {
    let mut run = run.clone();
    if let Ok(response) = &mut run.outcome {
        // These URLs contain secrets and stop working when the session ends.
        response.live_view_url = None;
        response.interactive_live_view_url = None;
        response.cdp_url = None;
        for text in [
            &mut response.output, &mut response.stdout, &mut response.stderr, &mut response.result,
        ] {
            *text = text
                .take()
                .map(|text| text.chars().take(STORED_OUTPUT_CHARS).collect());
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_outputs_are_truncated_and_secrets_removed() {
        let task = Task::Prompt("x".to_owned());
        let (kind, text) = Run::kind_and_text(&task);
        let run = Run {
            at: 0.0,
            took_ms: 1.0,
            kind: kind.to_owned(),
            text: text.to_owned(),
            timeout: 30.0,
            outcome: Ok(ExecuteResponse {
                success: true,
                stdout: Some("é".repeat(2 * STORED_OUTPUT_CHARS)),
                cdp_url: Some("ws://e.com/cdp/secret".to_owned()),
                ..ExecuteResponse::default()
            }),
        };
        assert_eq!(run.task(), task);
        let stored = truncated(&run).outcome.unwrap();
        assert_eq!(stored.stdout.unwrap().chars().count(), STORED_OUTPUT_CHARS);
        assert_eq!(stored.cdp_url, None);
    }
}
