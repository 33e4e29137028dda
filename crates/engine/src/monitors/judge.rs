//! Judges changes against the goal of a monitor: with the language model, else with the core's rules.

use std::time::Duration;

use harvestman_core::api::change_report::MarkdownDiff;
use harvestman_core::api::monitor_response::{CheckPage, Judgment, PageStatus, TargetResult};
use harvestman_core::billing::MODEL_CREDITS;
use harvestman_core::extract::Schema;
use harvestman_core::monitor::judge::{judge, judge_new};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::context::Context;
use crate::limits;
use crate::model_answers::{DataRequest, extract_data};

const TASK: &str = "Decide whether this change of a web page matters for the user's goal. Lines that begin with - were \
                    removed, lines that begin with + were added. List only the changes that matter.";

/// Judges the changes of one check.
pub(super) struct Judge<'c> {
    context: &'c Context,
    goal: Option<String>,
    model_calls: usize,
    /// Why the model last gave no answer.
    degraded: Option<String>,
    judged: u64,
    matches: u64,
    pub(super) credits: u32,
}

impl<'c> Judge<'c> {
    pub(super) fn new(context: &'c Context, goal: Option<&str>) -> Self {
        Self {
            context,
            goal: goal.map(str::to_owned),
            model_calls: 0,
            degraded: None,
            judged: 0,
            matches: 0,
            credits: 0,
        }
    }

    /// Counts for another target from now on, from the counts that an interrupted check stored.
    pub(super) fn start_target(&mut self, result: &TargetResult) {
        let credits = result.judge_credits.unwrap_or_default();
        *self = Self {
            model_calls: self.model_calls + credits as usize / MODEL_CREDITS as usize,
            degraded: result.degraded_reason.clone(),
            judged: result.results_judged.unwrap_or_default(),
            matches: result.matches.unwrap_or_default(),
            credits: u32::try_from(credits).unwrap_or(u32::MAX),
            ..Self::new(self.context, self.goal.as_deref())
        };
    }

    /// Adds the counts to the figures of their target, if changes are judged at all.
    pub(super) fn report(&self, result: &mut TargetResult) {
        if self.goal.is_none() {
            return;
        }
        result.matches = Some(self.matches);
        result.results_judged = Some(self.judged);
        result.judge_credits = Some(self.credits.into());
        result.judge_degraded = Some(self.degraded.is_some());
        result.degraded_reason.clone_from(&self.degraded);
    }

    /// Adds a judgment to a page that changed, or that is new since the first check.
    pub(super) async fn judge(&mut self, page: &mut CheckPage, diff: Option<MarkdownDiff>, first: bool) {
        let Some(goal) = self.goal.clone() else { return };
        let judged = match (page.status, diff) {
            (PageStatus::Changed, Some(diff)) => {
                let text = page.diff.as_ref().and_then(|diff| diff["text"].as_str());
                let text = text.unwrap_or(&diff.text).to_owned();
                self.by_model(&goal, &text)
                    .await
                    .unwrap_or_else(|| judge(&goal, &diff))
            }
            (PageStatus::New, _) if !first => {
                let text = described(page);
                let added = format!("+{text}");
                self.by_model(&goal, &added)
                    .await
                    .unwrap_or_else(|| judge_new(&goal, &text))
            }
            _ => return,
        };
        self.judged += 1;
        self.matches += u64::from(judged.meaningful);
        page.judgment = Some(Judgment {
            fields: changed_fields(page),
            ..judged
        });
    }

    /// Asks the model. Returns `None` without one, without an answer, or after [`limits::JUDGED_BY_MODEL`] changes.
    async fn by_model(&mut self, goal: &str, change: &str) -> Option<Judgment> {
        let llm = self.context.config.llm.as_ref()?;
        if self.model_calls >= limits::JUDGED_BY_MODEL {
            let most = limits::JUDGED_BY_MODEL;
            self.degraded = Some(format!(
                "the language model judges at most {most} changes of a check"
            ));
            return None;
        }
        self.model_calls += 1;
        let schema = schema();
        let task = format!("{TASK}\nThe goal: {goal}");
        let request = DataRequest {
            schema: Some(&schema),
            prompt: Some(&task),
            ..DataRequest::default()
        };
        let deadline = Instant::now() + Duration::from_secs(limits::JUDGE_TIMEOUT_S);
        match extract_data(llm, request, change, deadline).await {
            Ok(answer) => match serde_json::from_value(answer.value) {
                Ok(judgment) => {
                    self.credits = self.credits.saturating_add(MODEL_CREDITS);
                    Some(judgment)
                }
                Err(error) => self.degrade(error.to_string()),
            },
            Err(error) => self.degrade(error.to_string()),
        }
    }

    fn degrade(&mut self, reason: String) -> Option<Judgment> {
        tracing::warn!(%reason, "cannot judge a change with the language model; using rules");
        self.degraded = Some(reason);
        None
    }
}

/// Returns the paths of the changed fields of a page whose extracted data is compared.
fn changed_fields(page: &CheckPage) -> Vec<String> {
    let diff = page.diff.as_ref().filter(|_| page.snapshot.is_some());
    let fields = diff.and_then(|diff| diff["json"].as_object());
    fields
        .into_iter()
        .flat_map(|fields| fields.keys().cloned())
        .collect()
}

/// Returns what is known of a new page: title, description, URL.
fn described(page: &CheckPage) -> String {
    let field = |name: &str| page.metadata.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let parts = [field("title"), field("description"), Some(page.url.clone())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" – ")
}

fn schema() -> Schema {
    let change = json!({
        "type": "object",
        "properties": {
            "type": { "type": "string", "enum": ["added", "removed", "changed"] },
            "before": { "type": "string" },
            "after": { "type": "string" },
            "reason": { "type": "string" }
        },
        "required": ["type", "reason"]
    });
    let Value::Object(schema) = json!({
        "type": "object",
        "properties": {
            "meaningful": { "type": "boolean" },
            "confidence": { "type": "string", "enum": ["high", "medium", "low"] },
            "reason": { "type": "string" },
            "meaningfulChanges": { "type": "array", "items": change }
        },
        "required": ["meaningful", "confidence", "reason", "meaningfulChanges"]
    }) else {
        unreachable!("an object is an object");
    };
    Schema::new(schema)
}
