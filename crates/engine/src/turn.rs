//! The slot of one page while it is being scraped: an HTTP slot at first, a browser slot from the moment the
//! page needs the browser. A page that waits for the browser holds no slot.

use std::fmt::Display;
use std::time::Duration;

use harvestman_core::api::page::Metadata;
use harvestman_core::crawl::SlotKind;
use harvestman_core::host::HostKey;
use harvestman_core::url_key::UrlKey;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::error::ScrapeFailure;
use crate::outage;
use crate::slots::{QueueTime, Slot, SlotOwner, Slots};

/// The slot of one page while it is being scraped.
#[derive(Debug)]
pub(crate) struct Turn {
    slots: Slots,
    owner: SlotOwner,
    state: Mutex<TurnState>,
    source: Source,
}

#[derive(Debug, Default)]
struct TurnState {
    slot: Option<Slot>,
    queue_time: QueueTime,
    /// The page was opened in the browser.
    in_browser: bool,
    /// The page was scraped.
    completed: bool,
    /// How far the deadline was extended.
    extended_by: Duration,
}

/// How a page gets a browser slot.
#[derive(Debug)]
enum Source {
    /// A page of a single request: as soon as the team has a slot.
    Call,
    /// A page of a job: when the job's driver grants one.
    Job(UrlKey, mpsc::Sender<TurnEvent>),
}

/// Events that a page of a job sends to its driver.
#[derive(Debug)]
pub(crate) enum TurnEvent {
    /// The page waits for the browser.
    NeedsBrowser {
        key: UrlKey,
        /// Memory that the page holds while it waits.
        bytes: usize,
        /// Receives the slot, and the wait if there was one.
        reply: oneshot::Sender<(Slot, QueueTime)>,
    },
    /// The page's host is at a private address.
    PrivateHost(HostKey),
    /// The page was processed.
    Finished { in_browser: bool, waited: bool },
}

impl Turn {
    /// Creates the turn of a page that no job queued: of a single scrape, a map or a run.
    pub(crate) fn of_call(slots: Slots, owner: SlotOwner, first: Option<(Slot, QueueTime)>) -> Self {
        Self::new(slots, owner, Source::Call, first)
    }

    /// Creates the turn of a page of a job, in the slot that the job took for it.
    pub(crate) fn of_job(
        slots: Slots,
        key: UrlKey,
        driver: mpsc::Sender<TurnEvent>,
        first: (Slot, QueueTime),
    ) -> Self {
        Self::new(slots, first.0.owner(), Source::Job(key, driver), Some(first))
    }

    fn new(slots: Slots, owner: SlotOwner, source: Source, first: Option<(Slot, QueueTime)>) -> Self {
        let (slot, queue_time) = first.unzip();
        let state = TurnState {
            slot,
            queue_time: queue_time.unwrap_or_default(),
            in_browser: false,
            completed: false,
            extended_by: Duration::ZERO,
        };
        Self {
            slots,
            owner,
            state: Mutex::new(state),
            source,
        }
    }

    pub(crate) fn owner(&self) -> SlotOwner {
        self.owner
    }

    /// Returns whether a job queued the page, and tries it again if it fails.
    pub(crate) fn is_of_job(&self) -> bool {
        matches!(self.source, Source::Job(..))
    }

    /// Runs an operation on the store. A page of a job repeats it while the store is unavailable, which extends the page's
    /// deadline: an outage of the store is no failed attempt of the page.
    ///
    /// # Errors
    /// Those of the operation; for a page of a job none that means an outage.
    pub(crate) async fn on_store<T, E: Display, O: Future<Output = Result<T, E>>>(
        &self,
        is_outage: impl Fn(&E) -> bool,
        operation: impl Fn() -> O,
    ) -> Result<T, E> {
        if !self.is_of_job() {
            return operation().await;
        }
        let started = Instant::now();
        let result = outage::retry(is_outage, operation).await;
        self.state().extended_by += started.elapsed();
        result
    }

    /// Waits for a browser slot while `bytes` of the page stay in memory. Returns the page's deadline, which
    /// a wait within a job extends.
    ///
    /// # Errors
    /// If a page that belongs to no job gets no slot before its deadline.
    pub(crate) async fn acquire_browser(
        &self,
        bytes: usize,
        deadline: Instant,
    ) -> Result<Instant, ScrapeFailure> {
        if !self.has_browser() {
            let plain = self.state().slot.take();
            drop(plain);
            return self.wait_for_browser(bytes, deadline).await;
        }
        self.state().in_browser = true;
        Ok(deadline)
    }

    fn has_browser(&self) -> bool {
        let state = self.state();
        state
            .slot
            .as_ref()
            .is_some_and(|slot| slot.kind() == SlotKind::Browser)
    }

    async fn wait_for_browser(&self, bytes: usize, deadline: Instant) -> Result<Instant, ScrapeFailure> {
        let started = Instant::now();
        let (slot, queue_time, extended_by) = match &self.source {
            Source::Call => {
                let slot = self.slots.acquire(self.owner, SlotKind::Browser);
                let (slot, queue_time) = timeout_at(deadline, slot)
                    .await
                    .map_err(|_| ScrapeFailure::timeout())?;
                (slot, queue_time, Duration::ZERO)
            }
            Source::Job(key, driver) => {
                let (reply, slot) = oneshot::channel();
                let key = *key;
                let event = TurnEvent::NeedsBrowser { key, bytes, reply };
                // The receiver is gone once the driver has ended.
                let _ = driver.send(event).await;
                let (slot, queue_time) = slot.await.map_err(|_| ScrapeFailure::timeout())?;
                let wait = started.elapsed();
                let queue_time = if queue_time.waited() {
                    QueueTime::of(wait)
                } else {
                    QueueTime::default()
                };
                (slot, queue_time, wait)
            }
        };
        let mut state = self.state();
        state.slot = Some(slot);
        state.queue_time = state.queue_time.and(queue_time);
        state.in_browser = true;
        state.extended_by += extended_by;
        Ok(deadline + extended_by)
    }

    /// Returns the extended deadline of the page; `first` is the deadline before it waited.
    pub(crate) fn extended(&self, first: Instant) -> Instant {
        first + self.state().extended_by
    }

    /// Releases the browser slot, because the page is not fetched with the browser after all.
    pub(crate) fn skip_browser(&self) {
        self.release_browser();
        self.state().in_browser = false;
    }

    /// Releases the browser slot, because the page no longer needs the browser.
    pub(crate) fn release_browser(&self) {
        let slot = self.state().slot.take_if(|slot| slot.kind() == SlotKind::Browser);
        drop(slot);
    }

    /// Marks the page as scraped; otherwise it counts as failed.
    pub(crate) fn complete(&self) {
        self.state().completed = true;
    }

    /// Records in the document's metadata whether its page had to wait.
    pub(crate) fn record_in(&self, metadata: &mut Metadata) {
        self.state().queue_time.record_in(metadata);
    }

    /// Reports to the job's driver how the page was processed; call this at its end.
    pub(crate) async fn report(&self) {
        let (in_browser, waited) = self.usage();
        if let Source::Job(_, driver) = &self.source
            && (in_browser || waited)
        {
            // The receiver is gone once the driver has ended.
            let _ = driver.send(TurnEvent::Finished { in_browser, waited }).await;
        }
    }

    /// Returns whether the page was in the browser, and whether it waited for a slot.
    fn usage(&self) -> (bool, bool) {
        let state = self.state();
        (state.in_browser, state.queue_time.waited())
    }

    fn state(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (in_browser, waited) = self.usage();
        let kind = match in_browser {
            true => SlotKind::Browser,
            false => SlotKind::Plain,
        };
        let completed = self.state().completed;
        self.slots.metrics().count_page(kind, completed, waited);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use harvestman_core::ids::{JobId, TeamId};
    use uuid::Uuid;

    use super::*;
    use crate::plans::{Limits, Plans};

    fn owner() -> SlotOwner {
        SlotOwner::of_team(TeamId(Uuid::from_u128(1)), JobId(Uuid::from_u128(1)))
    }

    fn slots() -> Slots {
        Slots::new(
            Plans::new(Limits::at_once(1), BTreeMap::new()),
            crate::holdings::Holdings::new(None),
            1,
            None,
        )
    }

    fn recorded(turn: &Turn) -> Option<bool> {
        let mut metadata = Metadata::default();
        turn.record_in(&mut metadata);
        metadata.concurrency_limited
    }

    #[tokio::test]
    async fn a_page_that_waits_for_the_browser_releases_its_http_slot() {
        let slots = slots();
        let busy = slots.acquire(owner(), SlotKind::Browser).await;
        let first = slots.acquire(owner(), SlotKind::Plain).await;
        let turn = Turn::of_call(slots.clone(), owner(), Some(first));
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut waiting = Box::pin(turn.acquire_browser(0, deadline));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let plain = slots.request(owner(), SlotKind::Plain).try_slot();
        assert!(plain.is_some());
        drop(busy);
        assert_eq!(waiting.await.unwrap(), deadline);
        assert_eq!(recorded(&turn), Some(true));
        assert_eq!(
            turn.acquire_browser(0, deadline).await.unwrap(),
            deadline,
            "it already has the slot"
        );
        turn.release_browser();
        assert!(slots.request(owner(), SlotKind::Browser).try_slot().is_some());
    }

    #[tokio::test]
    async fn a_call_waits_for_the_browser_until_its_deadline() {
        let slots = slots();
        let _busy = slots.acquire(owner(), SlotKind::Browser).await;
        let turn = Turn::of_call(slots, owner(), None);
        let deadline = Instant::now() + Duration::from_millis(20);
        let failure = turn.acquire_browser(0, deadline).await.unwrap_err();
        assert!(failure.transient && Instant::now() >= deadline);
    }

    #[tokio::test]
    async fn a_wait_within_a_job_extends_the_deadline_of_the_page() {
        let slots = slots();
        let (driver, mut events) = mpsc::channel(1);
        let first = slots.acquire(owner(), SlotKind::Plain).await;
        let turn = Turn::of_job(slots.clone(), UrlKey(7), driver, first);
        let deadline = Instant::now() + Duration::from_secs(10);
        let replying = async {
            let Some(TurnEvent::NeedsBrowser { key, bytes, reply }) = events.recv().await else {
                panic!("the page wants the browser");
            };
            assert_eq!((key, bytes), (UrlKey(7), 5));
            tokio::time::sleep(Duration::from_millis(20)).await;
            let slot = slots.acquire(owner(), SlotKind::Browser).await;
            reply.send(slot).unwrap();
        };
        let (later, ()) = tokio::join!(turn.acquire_browser(5, deadline), replying);
        let later = later.unwrap();
        assert!(later >= deadline + Duration::from_millis(20));
        assert_eq!(turn.extended(deadline), later);
        turn.report().await;
        let event = events.recv().await;
        assert!(matches!(
            event,
            Some(TurnEvent::Finished {
                in_browser: true,
                waited: false
            })
        ));
        turn.skip_browser();
        assert!(slots.request(owner(), SlotKind::Browser).try_slot().is_some());
        turn.report().await;
        assert!(
            events.try_recv().is_err(),
            "a page that skips the browser counts as fetched over HTTP"
        );
    }
}
