//! Units of limits that all nodes share, as held by this node: pages of teams and keys, browser sessions, and credits
//! of budgets. Work uses only units held here. This node borrows more in blocks when work needs them, and gives back
//! units that are idle for a second.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::{KeyId, TeamId};
use harvestman_store::{Demand, Holding, SharedLimits, StoreError};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::limits;

/// Pages that are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pages {
    Http,
    Browser,
}

impl From<SlotKind> for Pages {
    fn from(kind: SlotKind) -> Self {
        match kind {
            SlotKind::Plain => Self::Http,
            SlotKind::Browser => Self::Browser,
        }
    }
}

/// A limit: what it counts, and whose it is. Its `Display` form is its name in the store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Subject {
    TeamPages(Pages, TeamId),
    KeyPages(Pages, KeyId),
    Sessions(TeamId),
    Credits(TeamId),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = |pages: &Pages| match pages {
            Pages::Http => "pages",
            Pages::Browser => "browser pages",
        };
        match self {
            Self::TeamPages(kind, team) => write!(f, "{} of team {team}", pages(kind)),
            Self::KeyPages(kind, key) => write!(f, "{} of key {key}", pages(kind)),
            Self::Sessions(team) => write!(f, "sessions of team {team}"),
            Self::Credits(team) => write!(f, "credits of team {team}"),
        }
    }
}

/// How much of a limit the work of this node needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) subject: Subject,
    /// Units in use.
    pub(crate) in_use: u64,
    /// Units that could be used now, including those in use.
    pub(crate) wanted: u64,
    /// The limit across all nodes.
    pub(crate) limit: u64,
}

impl Need {
    /// Returns whether work waits for the units it wants. Work of the other kinds is refused instead.
    fn waits(&self) -> bool {
        matches!(self.subject, Subject::TeamPages(..) | Subject::KeyPages(..))
    }

    /// Returns the number of units to borrow: more than wanted now, so that growing work does not wait each time.
    fn block(&self) -> u64 {
        match self.waits() {
            true => (2 * self.wanted)
                .next_multiple_of(limits::PAGES_PER_BLOCK)
                .min(self.limit),
            false => self.wanted,
        }
    }

    fn demand(&self, wanted: u64) -> Demand {
        Demand {
            subject: self.subject.to_string(),
            in_use: self.in_use,
            wanted,
            limit: self.limit,
            budget_of: match self.subject {
                Subject::Credits(team) => Some(team),
                _ => None,
            },
            waits: self.waits(),
        }
    }
}

/// The units that this node holds. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Holdings(Option<Arc<Shared>>);

/// The holdings of a node in a cluster.
#[derive(Debug)]
pub(crate) struct Shared {
    limits: SharedLimits,
    held: Mutex<HashMap<Subject, LocalUnits>>,
    /// Held while units are borrowed or given back.
    exchange: tokio::sync::Mutex<()>,
    wake: Notify,
}

#[derive(Clone, Copy, Debug, Default)]
struct LocalUnits {
    units: u64,
    /// Units that were used up since the last exchange began, so that the store still counts them as held.
    used_up: u64,
    /// How often this node had lost its units when it borrowed these.
    losses: u64,
    /// When some of the units became idle.
    idle_since: Option<Instant>,
}

impl LocalUnits {
    /// Prevents units from being taken until the exchange shows how many this node holds.
    fn begin_exchange(&mut self) {
        (self.units, self.used_up) = (0, 0);
    }

    /// Sets the units to the number that the node got, minus those used up meanwhile.
    fn end_exchange(&mut self, holding: Holding, losses: u64) {
        self.units = holding.held.saturating_sub(self.used_up);
        (self.losses, self.idle_since) = (losses, None);
    }
}

impl Holdings {
    /// Creates the holdings of a node. Without other nodes, it holds every limit in full.
    pub(crate) fn new(limits: Option<SharedLimits>) -> Self {
        Self(limits.map(|limits| {
            Arc::new(Shared {
                limits,
                held: Mutex::default(),
                exchange: tokio::sync::Mutex::default(),
                wake: Notify::new(),
            })
        }))
    }

    /// Returns the holdings; `None` without other nodes.
    pub(crate) fn shared(&self) -> Option<Arc<Shared>> {
        self.0.clone()
    }

    /// Returns the limits of the cluster; `None` without other nodes.
    pub(crate) fn limits(&self) -> Option<&SharedLimits> {
        self.0.as_ref().map(|shared| &shared.limits)
    }

    /// Returns the units that this node may use; 0 once other nodes may have taken them over.
    pub(crate) fn units(&self, subject: Subject) -> u64 {
        let Some(shared) = &self.0 else { return u64::MAX };
        let losses = shared.limits.losses();
        let held = shared.held.lock().get(&subject).copied().unwrap_or_default();
        match shared.limits.holds() && held.losses == losses {
            true => held.units,
            false => 0,
        }
    }

    /// Returns whether this node keeps the units that it holds: false once other nodes may have taken them over.
    pub(crate) fn are_kept(&self) -> bool {
        self.limits().is_none_or(SharedLimits::holds)
    }

    /// Removes units that were used up and so cannot be given back.
    pub(crate) fn use_up(&self, subject: Subject, units: u64) {
        if let Some(shared) = self.0.as_ref().filter(|_| units > 0)
            && let Some(held) = shared.held.lock().get_mut(&subject)
        {
            held.units = held.units.saturating_sub(units);
            held.used_up += units;
        }
    }

    /// Requests an exchange soon, because work waits for units.
    pub(crate) fn wake(&self) {
        if let Some(shared) = &self.0 {
            shared.wake.notify_one();
        }
    }

    /// Borrows or gives back units of one limit now. While `need` is called, no unit can be taken.
    pub(crate) async fn exchange(
        &self,
        subject: Subject,
        need: impl FnOnce() -> Need,
    ) -> Result<Holding, StoreError> {
        let Some(shared) = &self.0 else {
            return Ok(Holding {
                held: u64::MAX,
                ..Holding::default()
            });
        };
        let _exchange = shared.exchange.lock().await;
        shared.held.lock().entry(subject).or_default().begin_exchange();
        let (need, losses) = (need(), shared.limits.losses());
        let holdings = shared.limits.borrow(&[need.demand(need.wanted)]).await?;
        let holding = holdings.first().copied().unwrap_or_default();
        let mut held = shared.held.lock();
        held.entry(subject).or_default().end_exchange(holding, losses);
        Ok(holding)
    }
}

impl Shared {
    /// Returns the limits of the cluster.
    pub(crate) fn limits(&self) -> &SharedLimits {
        &self.limits
    }

    /// Waits until work asks for more units.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Returns the names of the limits that this node holds units of.
    pub(crate) fn names(&self) -> Vec<String> {
        self.held.lock().keys().map(Subject::to_string).collect()
    }

    /// Returns the limits that this node must borrow units of or give units back to.
    pub(crate) fn due(&self, needs: &[Need], awaited: &HashSet<String>) -> HashSet<Subject> {
        let losses = self.limits.losses();
        let mut held = self.held.lock();
        let mut due: HashSet<Subject> = needs
            .iter()
            .filter(|need| {
                let held = held.get(&need.subject).copied().unwrap_or_default();
                need.waits() && (held.units < need.wanted || held.losses != losses)
            })
            .map(|need| need.subject)
            .collect();
        let needs: HashMap<Subject, &Need> = needs.iter().map(|need| (need.subject, need)).collect();
        for (subject, held) in held.iter_mut() {
            let block = needs.get(subject).map_or(0, |need| need.block());
            let is_idle = block < held.units || (block == 0 && held.units == 0) || held.used_up > 0;
            let idle_since = *held.idle_since.get_or_insert_with(Instant::now);
            if !is_idle {
                held.idle_since = None;
            } else if idle_since.elapsed() >= limits::IDLE_UNITS {
                due.insert(*subject);
            }
            if awaited.contains(&subject.to_string()) {
                due.insert(*subject);
            }
        }
        due
    }

    /// Borrows and gives back units of these limits. Returns whether every need was met.
    pub(crate) async fn exchange_all(
        &self,
        needs: impl FnOnce() -> Vec<Need>,
        due: &HashSet<Subject>,
        awaited: &HashSet<String>,
    ) -> Result<bool, StoreError> {
        let _exchange = self.exchange.lock().await;
        for subject in due {
            self.held.lock().entry(*subject).or_default().begin_exchange();
        }
        let mut needs: HashMap<Subject, Need> =
            needs().into_iter().map(|need| (need.subject, need)).collect();
        let needs: Vec<Need> = due
            .iter()
            .map(|subject| {
                needs.remove(subject).unwrap_or(Need {
                    subject: *subject,
                    in_use: 0,
                    wanted: 0,
                    limit: 0,
                })
            })
            .collect();
        let demands: Vec<Demand> = needs
            .iter()
            .map(|need| {
                let demand = need.demand(need.block());
                match awaited.contains(&demand.subject) {
                    true => need.demand(need.wanted),
                    false => demand,
                }
            })
            .collect();
        let losses = self.limits.losses();
        let holdings = self.limits.borrow(&demands).await?;
        let mut held = self.held.lock();
        let mut satisfied = true;
        for (need, holding) in needs.iter().zip(holdings) {
            satisfied &= holding.held >= need.wanted;
            if holding.held == 0 && need.wanted == 0 {
                held.remove(&need.subject);
            } else {
                held.entry(need.subject)
                    .or_default()
                    .end_exchange(holding, losses);
            }
        }
        Ok(satisfied)
    }
}
