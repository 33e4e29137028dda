//! Consent banners: refuses consent with the autoconsent script, and hides a banner that remains. Pages that show no
//! banner are not changed.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::future::join_all;
use harvestman_core::api::page::ConsentBanner;
use harvestman_core::scrape::consent_selectors;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::blocker::Blocker;
use crate::cdp::{Session, text};
use crate::error::BrowserError;
use crate::limits;
use crate::page::{self, Page, World};

/// JavaScript function that returns whether a document seems to show a banner.
const HAS_BANNER: &str = include_str!("consent/has_banner.js");
/// JavaScript function that waits until autoconsent has answered the banner or has found none, and returns whether it has
/// answered.
const ANSWERED: &str = include_str!("consent/answered.js");
/// JavaScript function that hides the banners of known tools, and returns whether the page showed any.
const HIDE: &str = include_str!("consent/hide.js");

/// The banners of known tools, as a JavaScript string.
static SELECTORS: LazyLock<String> = LazyLock::new(|| json!(consent_selectors()).to_string());

/// Answers the consent banner of a page, or hides it if it cannot be answered. Returns what was done, if the page shows a
/// banner.
///
/// # Errors
/// Only if the page ended or the deadline passed: a banner that cannot be answered is left to the reader of the page.
pub(crate) async fn answer(
    page: &Page,
    blocker: &Blocker,
    deadline: Instant,
) -> Result<Option<ConsentBanner>, BrowserError> {
    let left = deadline.saturating_duration_since(Instant::now());
    let end = Instant::now() + (limits::CONSENT_DETECTION + limits::CONSENT_ANSWER).min(left / 4);
    let has_banner = format!("({HAS_BANNER})({})", *SELECTORS);
    if page.evaluate(&has_banner, World::Isolated, end).await.ok() != Some(Value::Bool(true)) {
        page.sleep(Duration::ZERO, deadline).await?;
        return Ok(None);
    }
    let mut done = None;
    if let Some(script) = blocker.consent_script() {
        let answered = tokio::join!(
            answer_in_page(page, script, end),
            answer_in_frames(page, script, end)
        );
        done = (answered.0 || answered.1).then_some(ConsentBanner::Answered);
        page.wait_until_idle(deadline).await?;
    }
    let hide = format!("({HIDE})({})", *SELECTORS);
    match page.evaluate(&hide, World::Isolated, deadline).await {
        Ok(Value::Bool(true)) => done = done.or(Some(ConsentBanner::Hidden)),
        Ok(_) => {}
        Err(error) => tracing::debug!(%error, "cannot hide a consent banner"),
    }
    page.sleep(Duration::ZERO, deadline).await?;
    Ok(done)
}

/// Runs autoconsent in the main frame, where it needs the page's own scripts. Returns whether it answered.
async fn answer_in_page(page: &Page, script: &str, end: Instant) -> bool {
    let work = async {
        page.evaluate(&format!("{script}\n;undefined"), World::Page, end)
            .await?;
        page.evaluate(&answered(), World::Page, end).await
    };
    // The page may navigate once the banner is answered.
    match work.await {
        Ok(answered) => answered == Value::Bool(true),
        Err(error) => {
            tracing::debug!(%error, "cannot answer a consent banner");
            false
        }
    }
}

/// Runs autoconsent in the frames that may contain a banner. Returns whether it answered in one.
async fn answer_in_frames(page: &Page, script: &str, end: Instant) -> bool {
    let work = |(session, frame): (Arc<Session>, String)| async move {
        let context = page::isolated(&session, &frame, end).await?;
        let run = |expression: String| {
            let params = json!({
                "expression": expression,
                "contextId": context,
                "awaitPromise": true,
                "returnByValue": true,
            });
            session.call_until("Runtime.evaluate", params, end)
        };
        run(format!("{script}\n;undefined")).await?;
        match run(answered()).await {
            Err(BrowserError::Timeout) => Err(BrowserError::Timeout),
            // The frame disappears once the banner is answered.
            Err(_) => Ok(true),
            Ok(response) => Ok(page::value(response)?["value"] == Value::Bool(true)),
        }
    };
    let frames = frames(page, end).await.unwrap_or_default();
    let mut has_answered = false;
    for result in join_all(frames.into_iter().map(work)).await {
        match result {
            Ok(answered) => has_answered |= answered,
            Err(error) => tracing::debug!(%error, "cannot answer a consent banner in a frame"),
        }
    }
    has_answered
}

fn answered() -> String {
    format!(
        "({ANSWERED})({}, {})",
        limits::CONSENT_DETECTION.as_millis(),
        limits::CONSENT_ANSWER.as_millis()
    )
}

/// Returns the frames of consent tools with their sessions, both in the page's own process and in other processes.
async fn frames(page: &Page, end: Instant) -> Result<Vec<(Arc<Session>, String)>, BrowserError> {
    let tree = page
        .session()
        .call_until("Page.getFrameTree", json!({}), end)
        .await?;
    let mut waiting: Vec<&Value> = vec![&tree["frameTree"]];
    let mut found = Vec::new();
    let mut parents = vec![page.main_frame().to_owned()];
    while let Some(node) = waiting.pop() {
        for child in node["childFrames"].as_array().into_iter().flatten() {
            let frame = &child["frame"];
            let id = text(frame, "id");
            if may_have_banner(&text(frame, "url")) || may_have_banner(&text(frame, "name")) {
                found.push((page.session().clone(), id.clone()));
            }
            parents.push(id);
            waiting.push(child);
        }
    }
    let params = json!({"filter": [{"type": "iframe"}]});
    let targets = page.connection().call("Target.getTargets", params).await?;
    for target in targets["targetInfos"].as_array().into_iter().flatten() {
        if parents.contains(&text(target, "parentFrameId"))
            && may_have_banner(&text(target, "url"))
            && found.len() < limits::CONSENT_FRAMES
        {
            let id = text(target, "targetId");
            let (session, _events) = page.connection().attach(&id).await?;
            found.push((Arc::new(session), id));
        }
    }
    found.truncate(limits::CONSENT_FRAMES);
    Ok(found)
}

/// Returns whether the URL or the name of a frame is one that consent tools use.
fn may_have_banner(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "consent", "cookie", "gdpr", "privacy", "cmp", "message_id", "sp_message", "truste", "notice",
    ];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}
