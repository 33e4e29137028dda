//! The slot of one page while it is being scraped: an HTTP slot at first, a browser slot from the moment the
//! page needs the browser. A page that waits for the browser holds no slot.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harvestman_core::api::page::Metadata;
use harvestman_core::crawl::SlotKind;
use harvestman_core::host::HostKey;
use harvestman_core::url_key::UrlKey;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::scraper::ScrapeFailure;
use crate::slots::{Asker, Queued, Slot, Slots};

/// The slot of one page while it is being scraped.
#[derive(Debug)]
pub(crate) struct Turn {
    slots: Slots,
    held: Mutex<Held>,
    way: Way,
}

#[derive(Debug, Default)]
struct Held {
    slot: Option<Slot>,
    queued: Queued,
    /// The page was opened in the browser.
    in_browser: bool,
    /// How far the deadline was extended.
    moved: Duration,
}

/// How a page gets a browser slot.
#[derive(Debug)]
enum Way {
    /// A page of a single request: as soon as the team has a slot.
    Call(Asker),
    /// A page of a job: when the job's driver grants one.
    Job(UrlKey, mpsc::Sender<News>),
}

/// Events that a page of a job sends to its driver.
#[derive(Debug)]
pub(crate) enum News {
    /// The page waits for the browser.
    NeedsBrowser {
        key: UrlKey,
        /// Memory that the page holds while it waits.
        bytes: usize,
        /// Receives the slot, and the wait if there was one.
        granted: oneshot::Sender<(Slot, Queued)>,
    },
    /// The page's host is at a private address.
    PrivateHost(HostKey),
    /// The page was processed.
    Worked { in_browser: bool, waited: bool },
}

impl Turn {
    /// Creates the turn of a page that no job queued: of a single scrape, a map or a run.
    pub(crate) fn of_call(slots: Slots, asker: Asker, first: Option<(Slot, Queued)>) -> Self {
        Self::new(slots, Way::Call(asker), first)
    }

    /// Creates the turn of a page of a job, in the slot that the job took for it.
    pub(crate) fn of_job(
        slots: Slots,
        key: UrlKey,
        driver: mpsc::Sender<News>,
        first: (Slot, Queued),
    ) -> Self {
        Self::new(slots, Way::Job(key, driver), Some(first))
    }

    fn new(slots: Slots, way: Way, first: Option<(Slot, Queued)>) -> Self {
        let (slot, queued) = first.unzip();
        let held = Held {
            slot,
            queued: queued.unwrap_or_default(),
            in_browser: false,
            moved: Duration::ZERO,
        };
        Self {
            slots,
            held: Mutex::new(held),
            way,
        }
    }

    /// Waits for a browser slot while `bytes` of the page stay in memory. Returns the page's deadline, which
    /// a wait within a job extends.
    ///
    /// # Errors
    /// If a page that belongs to no job gets no slot before its deadline.
    pub(crate) async fn browser(&self, bytes: usize, deadline: Instant) -> Result<Instant, ScrapeFailure> {
        if !self.has_browser() {
            let plain = self.held().slot.take();
            drop(plain);
            return self.take_browser(bytes, deadline).await;
        }
        self.held().in_browser = true;
        Ok(deadline)
    }

    fn has_browser(&self) -> bool {
        let held = self.held();
        held.slot
            .as_ref()
            .is_some_and(|slot| slot.kind() == SlotKind::Browser)
    }

    async fn take_browser(&self, bytes: usize, deadline: Instant) -> Result<Instant, ScrapeFailure> {
        let since = Instant::now();
        let (slot, queued, moved) = match &self.way {
            Way::Call(asker) => {
                let slot = self.slots.take(*asker, SlotKind::Browser);
                let (slot, queued) = timeout_at(deadline, slot)
                    .await
                    .map_err(|_| ScrapeFailure::timeout())?;
                (slot, queued, Duration::ZERO)
            }
            Way::Job(key, driver) => {
                let (granted, slot) = oneshot::channel();
                let key = *key;
                let news = News::NeedsBrowser { key, bytes, granted };
                // The receiver is gone once the driver has ended.
                let _ = driver.send(news).await;
                let (slot, queued) = slot.await.map_err(|_| ScrapeFailure::timeout())?;
                let wait = since.elapsed();
                let queued = if queued.waited() {
                    Queued::of(wait)
                } else {
                    Queued::default()
                };
                (slot, queued, wait)
            }
        };
        let mut held = self.held();
        held.slot = Some(slot);
        held.queued = held.queued.and(queued);
        held.in_browser = true;
        held.moved += moved;
        Ok(deadline + moved)
    }

    /// Returns the extended deadline of the page; `first` is the deadline before it waited.
    pub(crate) fn moved(&self, first: Instant) -> Instant {
        first + self.held().moved
    }

    /// Releases the browser slot, because the page no longer needs the browser.
    pub(crate) fn leave_browser(&self) {
        let slot = self.held().slot.take_if(|slot| slot.kind() == SlotKind::Browser);
        drop(slot);
    }

    /// Records in the document's metadata whether its page had to wait.
    pub(crate) fn note(&self, metadata: &mut Metadata) {
        self.held().queued.note(metadata);
    }

    /// Reports to the job's driver how the page was processed; call this at its end.
    pub(crate) async fn report(&self) {
        let (in_browser, waited) = self.taken();
        if let Way::Job(_, driver) = &self.way
            && (in_browser || waited)
        {
            // The receiver is gone once the driver has ended.
            let _ = driver.send(News::Worked { in_browser, waited }).await;
        }
    }

    /// Returns whether the page was in the browser, and whether it waited for a slot.
    fn taken(&self) -> (bool, bool) {
        let held = self.held();
        (held.in_browser, held.queued.waited())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (in_browser, waited) = self.taken();
        self.slots.counters().worked(in_browser, waited);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use harvestman_core::ids::{JobId, TeamId};
    use uuid::Uuid;

    use super::*;
    use crate::plans::{Limits, Plans};

    fn asker() -> Asker {
        Asker {
            team: TeamId(Uuid::from_u128(1)),
            key: None,
            job: JobId(Uuid::from_u128(1)),
        }
    }

    fn slots() -> Slots {
        Slots::new(Plans::new(Limits::at_once(1), BTreeMap::new()), 1)
    }

    fn noted(turn: &Turn) -> Option<bool> {
        let mut metadata = Metadata::default();
        turn.note(&mut metadata);
        metadata.concurrency_limited
    }

    #[tokio::test]
    async fn a_page_that_waits_for_the_browser_releases_its_http_slot() {
        let slots = slots();
        let busy = slots.take(asker(), SlotKind::Browser).await;
        let first = slots.take(asker(), SlotKind::Plain).await;
        let turn = Turn::of_call(slots.clone(), asker(), Some(first));
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut waiting = Box::pin(turn.browser(0, deadline));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let plain = slots.ask(asker(), SlotKind::Plain).at_once();
        assert!(plain.is_some());
        drop(busy);
        assert_eq!(waiting.await.unwrap(), deadline);
        assert_eq!(noted(&turn), Some(true));
        assert_eq!(
            turn.browser(0, deadline).await.unwrap(),
            deadline,
            "it already has the slot"
        );
        turn.leave_browser();
        assert!(slots.ask(asker(), SlotKind::Browser).at_once().is_some());
    }

    #[tokio::test]
    async fn a_call_waits_for_the_browser_until_its_deadline() {
        let slots = slots();
        let _busy = slots.take(asker(), SlotKind::Browser).await;
        let turn = Turn::of_call(slots, asker(), None);
        let deadline = Instant::now() + Duration::from_millis(20);
        let failure = turn.browser(0, deadline).await.unwrap_err();
        assert!(failure.transient && Instant::now() >= deadline);
    }

    #[tokio::test]
    async fn a_wait_within_a_job_extends_the_deadline_of_the_page() {
        let slots = slots();
        let (driver, mut news) = mpsc::channel(1);
        let first = slots.take(asker(), SlotKind::Plain).await;
        let turn = Turn::of_job(slots.clone(), UrlKey(7), driver, first);
        let deadline = Instant::now() + Duration::from_secs(10);
        let granting = async {
            let Some(News::NeedsBrowser { key, bytes, granted }) = news.recv().await else {
                panic!("the page wants the browser");
            };
            assert_eq!((key, bytes), (UrlKey(7), 5));
            tokio::time::sleep(Duration::from_millis(20)).await;
            let slot = slots.take(asker(), SlotKind::Browser).await;
            granted.send(slot).unwrap();
        };
        let (later, ()) = tokio::join!(turn.browser(5, deadline), granting);
        let later = later.unwrap();
        assert!(later >= deadline + Duration::from_millis(20));
        assert_eq!(turn.moved(deadline), later);
        turn.report().await;
        let worked = news.recv().await;
        assert!(matches!(
            worked,
            Some(News::Worked {
                in_browser: true,
                waited: false
            })
        ));
        drop(turn);
        let metrics = slots.counters().read();
        assert_eq!((metrics.browser_total, metrics.plain_total), (1, 0));
    }
}
