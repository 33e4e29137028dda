//! One session: its browser, its tokens, and the queue of calls that use it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harvestman_browser::{BrowserError, LiveBrowser, LiveBrowsers};
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::interact::Task;
use harvestman_core::ids::{SessionId, TeamId};
use harvestman_core::interact::{Lifetime, SessionError, SessionTokens};
use harvestman_core::time::Timestamp;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::permits::SessionPermit;
use crate::budget::CreditReservation;
use crate::llm::Llm;
use crate::profiles::OpenProfile;
use crate::prompt::{self, TaskOutcome};
use crate::{clock, limits};

/// An active session.
pub(crate) struct LiveSession {
    pub(crate) id: SessionId,
    pub(crate) team: TeamId,
    pub(crate) created: Timestamp,
    lifetime: Mutex<Lifetime>,
    pub(crate) browser: LiveBrowser,
    pub(crate) tokens: SessionTokens,
    pub(crate) ended: CancellationToken,
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Number of calls that run or wait.
    calls: AtomicUsize,
    resources: Mutex<Option<SessionResources>>,
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
        lifetime: Lifetime,
        browser: LiveBrowser,
        tokens: SessionTokens,
        resources: SessionResources,
    ) -> Self {
        Self {
            id,
            team,
            created: clock::now(),
            lifetime: Mutex::new(lifetime),
            browser,
            tokens,
            ended: CancellationToken::new(),
            turn: Arc::default(),
            calls: AtomicUsize::new(0),
            resources: Mutex::new(Some(resources)),
        }
    }

    /// Returns when the session was last used, as wall-clock time.
    pub(crate) fn last_activity(&self) -> Timestamp {
        let idle = self.browser.last_used().elapsed().as_millis();
        let idle = u64::try_from(idle).unwrap_or(u64::MAX);
        Timestamp(clock::now().0.saturating_sub(idle)).max(self.created)
    }

    /// Returns when the session ends at the latest.
    pub(crate) fn expires_at(&self) -> Timestamp {
        self.created + self.lifetime().ttl
    }

    /// Returns when the session ends unless there is further activity.
    pub(crate) fn ends_at(&self) -> Timestamp {
        let last_activity = self.last_activity();
        self.lifetime().ends_at(self.created, last_activity)
    }

    /// Lets the session live at least until `at`, and counts as activity.
    pub(crate) fn extend(&self, at: Timestamp) -> Timestamp {
        self.browser.touch();
        let mut lifetime = self.lifetime();
        let ttl = Duration::from_millis(at.millis_since(self.created));
        // An idle session also lives at least that long.
        lifetime.idle = lifetime
            .idle
            .max(Duration::from_millis(at.millis_since(clock::now())));
        lifetime.ttl = lifetime.ttl.max(ttl);
        self.created + lifetime.ttl
    }

    fn lifetime(&self) -> MutexGuard<'_, Lifetime> {
        self.lifetime.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the session is over at `now`. A session with a running or waiting call is never idle.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        if self.calls.load(Ordering::Relaxed) > 0 {
            self.browser.touch();
        }
        now >= self.ends_at() || self.browser.has_ended()
    }

    /// Takes what the session owns; `None` on the second call.
    pub(crate) fn take_resources(&self) -> Option<SessionResources> {
        self.resources
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
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
