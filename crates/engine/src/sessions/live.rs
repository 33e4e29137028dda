//! One session: its browser, its tokens, and the queue of calls that use it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harvestman_browser::{BrowserError, LiveBrowser, LiveBrowsers};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::interact::Task;
use harvestman_core::ids::{SessionId, TeamId};
use harvestman_core::interact::{Lifetime, SessionError, SessionTokens};
use harvestman_core::time::Timestamp;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::permits::SessionPermit;
use crate::budget::CreditReservation;
use crate::clock::Ticker;
use crate::limits;
use crate::llm::Llm;
use crate::profiles::OpenProfile;
use crate::prompt::{self, TaskOutcome};

/// An active session.
pub(crate) struct LiveSession {
    pub(crate) id: SessionId,
    pub(crate) team: TeamId,
    pub(crate) age: Age,
    pub(crate) browser: LiveBrowser,
    pub(crate) tokens: SessionTokens,
    pub(crate) ended: CancellationToken,
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Number of calls that run or wait.
    calls: AtomicUsize,
    resources: Mutex<Option<SessionResources>>,
}

/// When a session began, and how long it lives. A jump of the wall clock neither ends a session nor changes its price.
pub(crate) struct Age {
    ticker: Ticker,
    pub(crate) created: Timestamp,
    lifetime: Mutex<Lifetime>,
}

/// What a session owns until it ends.
pub(crate) struct SessionResources {
    pub(crate) profile: Option<OpenProfile>,
    pub(crate) reservation: CreditReservation,
    pub(crate) permit: SessionPermit,
}

impl LiveSession {
    pub(crate) fn new(
        id: SessionId,
        team: TeamId,
        age: Age,
        browser: LiveBrowser,
        tokens: SessionTokens,
        resources: SessionResources,
    ) -> Self {
        Self {
            id,
            team,
            age,
            browser,
            tokens,
            ended: CancellationToken::new(),
            turn: Arc::default(),
            calls: AtomicUsize::new(0),
            resources: Mutex::new(Some(resources)),
        }
    }

    /// Returns when the session was last used.
    pub(crate) fn last_activity(&self) -> Timestamp {
        self.age.before(self.browser.last_used().elapsed())
    }

    /// Returns when the session ends unless there is further activity.
    pub(crate) fn ends_at(&self) -> Timestamp {
        self.age.ends_at(self.last_activity())
    }

    /// Lets the session live at least this long from now, and counts as activity. Returns when it ends at the latest.
    pub(crate) fn extend(&self, time: Duration) -> Timestamp {
        self.browser.touch();
        self.age.extend(time)
    }

    /// Returns whether the session is over. A session with a running or waiting call is never idle.
    pub(crate) fn is_over(&self) -> bool {
        if self.calls.load(Ordering::Relaxed) > 0 {
            self.browser.touch();
        }
        self.age.now() >= self.ends_at() || self.browser.has_ended()
    }

    /// Takes what the session owns; `None` on the second call.
    pub(crate) fn take_resources(&self) -> Option<SessionResources> {
        self.resources.lock().take()
    }

    /// Waits for exclusive use of the browser; calls run in the order of arrival.
    ///
    /// # Errors
    /// 410 if the session ends meanwhile, 429 if too many calls wait.
    pub(crate) async fn turn(self: &Arc<Self>) -> Result<SessionTurn, SessionError> {
        let call = CallGuard(self.clone());
        if self.calls.fetch_add(1, Ordering::Relaxed) >= limits::CALLS_PER_SESSION {
            return Err(SessionError::CallLimit(limits::CALLS_PER_SESSION));
        }
        tokio::select! {
            biased;
            () = self.ended.cancelled() => Err(SessionError::Destroyed),
            turn = self.turn.clone().lock_owned() => Ok(SessionTurn { _turn: turn, _call: call }),
        }
    }

    /// Runs a task, after the calls before it.
    ///
    /// # Errors
    /// 410 if the session ends meanwhile, 429 if too many calls wait, 502 if the browser fails before
    /// anything has run, 503 for what is not configured.
    pub(crate) async fn run(
        self: &Arc<Self>,
        task: Task,
        timeout: Duration,
        llm: Option<&Llm>,
    ) -> Result<TaskOutcome, ApiError> {
        let _turn = self.turn().await?;
        let task_future = async {
            match &task {
                Task::Code { code, language } => {
                    let result = self.browser.run(code, *language, timeout).await;
                    result.map(TaskOutcome::from).map_err(before_run_error)
                }
                Task::Prompt(prompt) => {
                    prompt::run(&self.browser, prompt, llm, Instant::now() + timeout).await
                }
            }
        };
        tokio::select! {
            biased;
            () = self.ended.cancelled() => Err(SessionError::Destroyed.into()),
            result = task_future => result,
        }
    }
}

impl Age {
    /// Returns the age of a session that begins when the ticker starts.
    pub(crate) fn new(ticker: Ticker, lifetime: Lifetime) -> Self {
        Self {
            ticker,
            created: ticker.started(),
            lifetime: Mutex::new(lifetime),
        }
    }

    /// Returns the time, without the jumps of the wall clock since the session began.
    pub(crate) fn now(&self) -> Timestamp {
        self.ticker.now()
    }

    /// Returns the time this long ago, but not before the session began.
    fn before(&self, ago: Duration) -> Timestamp {
        let ago = u64::try_from(ago.as_millis()).unwrap_or(u64::MAX);
        Timestamp(self.now().0.saturating_sub(ago)).max(self.created)
    }

    /// Returns when the session ends at the latest.
    pub(crate) fn expires_at(&self) -> Timestamp {
        self.created + self.lifetime.lock().ttl
    }

    fn ends_at(&self, last_activity: Timestamp) -> Timestamp {
        self.lifetime.lock().ends_at(self.created, last_activity)
    }

    fn extend(&self, time: Duration) -> Timestamp {
        let mut lifetime = self.lifetime.lock();
        let age = Duration::from_millis(self.now().millis_since(self.created));
        lifetime.ttl = lifetime.ttl.max(age + time);
        // An idle session also lives at least that long.
        lifetime.idle = lifetime.idle.max(time);
        self.created + lifetime.ttl
    }
}

/// Exclusive use of the browser.
pub(crate) struct SessionTurn {
    _turn: OwnedMutexGuard<()>,
    _call: CallGuard,
}

/// A call that runs or waits.
struct CallGuard(Arc<LiveSession>);

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Rejects a task that this server cannot run, before a browser is opened for it.
///
/// # Errors
/// 503.
pub(crate) async fn check_task(
    browsers: &LiveBrowsers,
    task: &Task,
    llm: Option<&Llm>,
) -> Result<(), ApiError> {
    match task {
        Task::Code { language, .. } => browsers.check(*language).await.map_err(before_run_error),
        Task::Prompt(prompt) => prompt::check(prompt, llm),
    }
}

/// Converts the error of a browser that failed before anything has run (docs/API.md section 2: only
/// then 502).
pub(crate) fn before_run_error(error: BrowserError) -> ApiError {
    match error {
        BrowserError::NotConfigured(_) => error.into(),
        error => ApiError::new(ErrorCode::BrowserError, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn a_jump_of_the_clock_does_not_change_the_age_of_a_session() {
        let minute = Duration::from_secs(60);
        let lifetime = Lifetime {
            ttl: minute,
            idle: minute,
        };
        // A session of a minute ago, when the wall clock was an hour ahead or behind.
        for anchor in [clock::now() + 60 * minute, Timestamp(clock::now().0 - 3_600_000)] {
            let age = Age::new(Ticker::at(Instant::now() - minute, anchor), lifetime);
            assert_eq!(age.created, anchor);
            assert!(age.now().millis_since(anchor) < 120_000, "{:?}", age.now());
            assert!(age.now() >= age.ends_at(anchor));
            assert!(age.extend(minute) >= anchor + 2 * minute);
            assert!(age.now() < age.expires_at());
        }
    }
}
