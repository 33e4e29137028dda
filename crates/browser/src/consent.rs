//! Consent banners: refuses what the banner of a page asks for, with the script autoconsent, and hides what remains of
//! it. Pages that show no banner are not touched.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::future::join_all;
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
/// JavaScript function that returns when autoconsent has answered the banner, or has found none.
const ANSWERED: &str = include_str!("consent/answered.js");
/// JavaScript function that hides the banners of known tools.
const HIDE: &str = include_str!("consent/hide.js");

/// The banners of known tools, as a JavaScript string.
static SELECTORS: LazyLock<String> = LazyLock::new(|| json!(consent_selectors()).to_string());

/// Answers the consent banner of a page, if it shows one.
///
/// # Errors
/// Only if the page ended or the deadline passed: a banner that cannot be answered is left to the reader of the page.
pub(crate) async fn answer(page: &Page, blocker: &Blocker, deadline: Instant) -> Result<(), BrowserError> {
    let left = deadline.saturating_duration_since(Instant::now());
    let end = Instant::now() + (limits::CONSENT_DETECTION + limits::CONSENT_ANSWER).min(left / 4);
    let has_banner = format!("({HAS_BANNER})({})", *SELECTORS);
    if page.evaluate(&has_banner, World::Isolated, end).await.ok() != Some(Value::Bool(true)) {
        return page.sleep(Duration::ZERO, deadline).await;
    }
    if let Some(script) = blocker.consent_script() {
        tokio::join!(
            answer_in_page(page, script, end),
            answer_in_frames(page, script, end)
        );
        page.wait_until_idle(deadline).await?;
    }
    let hide = format!("({HIDE})({})", *SELECTORS);
    if let Err(error) = page.evaluate(&hide, World::Isolated, deadline).await {
        tracing::debug!(%error, "cannot hide a consent banner");
    }
    page.sleep(Duration::ZERO, deadline).await
}

/// Runs autoconsent in the main frame, where it needs the page's own scripts.
async fn answer_in_page(page: &Page, script: &str, end: Instant) {
    let work = async {
        page.evaluate(&format!("{script}\n;undefined"), World::Page, end)
            .await?;
        page.evaluate(&answered(), World::Page, end).await
    };
    // The page may navigate once the banner is answered.
    if let Err(error) = work.await {
        tracing::debug!(%error, "cannot answer a consent banner");
    }
}

/// Runs autoconsent in the frames that may contain a banner.
async fn answer_in_frames(page: &Page, script: &str, end: Instant) {
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
        run(answered()).await
    };
    let frames = frames(page, end).await.unwrap_or_default();
    for result in join_all(frames.into_iter().map(work)).await {
        // The frame disappears once the banner is answered.
        if let Err(error) = result {
            tracing::debug!(%error, "cannot answer a consent banner in a frame");
        }
    }
}

fn answered() -> String {
    format!(
        "({ANSWERED})({}, {})",
        limits::CONSENT_DETECTION.as_millis(),
        limits::CONSENT_ANSWER.as_millis()
    )
}

/// Returns the frames of consent tools with their sessions: those of the page's own process, and those of others.
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
        "consent",
        "cookie",
        "gdpr",
        "privacy",
        "cmp",
        "message_id",
        "sp_message",
        "truste",
        "notice",
    ];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}
