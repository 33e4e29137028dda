//! The limits of each team: the default limits, or those of the plan that the operator assigned. Assignments
//! are stored; this is a copy in memory that is read for every page without waiting.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use harvestman_core::ids::TeamId;
use harvestman_store::NodeShare;

/// The limits of one team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Pages in flight at once; at least 1.
    pub max_concurrency: usize,
    /// Pages in flight at once per key; `None`: limited only by the team's limit.
    pub key_max_concurrency: Option<usize>,
    /// Browser sessions at once.
    pub max_sessions: usize,
    /// Requests per minute; `None`: unlimited.
    pub rate_limit: Option<u32>,
    /// Requests per minute per key; `None`: unlimited.
    pub key_rate_limit: Option<u32>,
    /// Credits per calendar month; `None`: unlimited.
    pub credit_budget: Option<u64>,
}

/// The limits of all teams. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Plans {
    default: Limits,
    plans: Arc<BTreeMap<String, Limits>>,
    by_team: Arc<RwLock<HashMap<TeamId, Limits>>>,
    share: Arc<Share>,
}

/// The share of this node in the limits that hold over all nodes.
#[derive(Debug)]
struct Share {
    index: AtomicU64,
    nodes: AtomicU64,
}

impl Share {
    /// Returns the part of this node: the limit divided by the number of nodes, the remainder to the first ones, but at
    /// least 1, so that no node refuses a team.
    fn of(&self, limit: u64) -> u64 {
        let nodes = self.nodes.load(Ordering::Relaxed).max(1);
        let has_more = self.index.load(Ordering::Relaxed) < limit % nodes;
        (limit / nodes + u64::from(has_more)).max(1)
    }
}

impl Plans {
    /// Creates the limits from the default limits and those of each plan.
    pub fn new(default: Limits, plans: BTreeMap<String, Limits>) -> Self {
        Self {
            default,
            plans: Arc::new(plans),
            by_team: Arc::default(),
            share: Arc::new(Share {
                index: AtomicU64::new(0),
                nodes: AtomicU64::new(1),
            }),
        }
    }

    /// Returns whether there is a plan of this name.
    pub fn has(&self, plan: &str) -> bool {
        self.plans.contains_key(plan)
    }

    /// Returns the names of all plans.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.plans.keys().map(String::as_str)
    }

    /// Sets which of the living nodes this one is.
    pub fn set_share(&self, share: NodeShare) {
        self.share.index.store(share.index, Ordering::Relaxed);
        self.share.nodes.store(share.nodes, Ordering::Relaxed);
    }

    /// Returns the part of a team's limits that this node may use: pages, sessions and requests per minute are divided
    /// between the living nodes, the credit budget is not.
    pub fn of_this_node(&self, team: TeamId) -> Limits {
        let limits = self.of(team);
        if self.share.nodes.load(Ordering::Relaxed) <= 1 {
            return limits;
        }
        let part = |limit: usize| usize::try_from(self.share.of(limit as u64)).unwrap_or(limit);
        let part_of_rate = |limit: u32| u32::try_from(self.share.of(u64::from(limit))).unwrap_or(limit);
        Limits {
            max_concurrency: part(limits.max_concurrency),
            key_max_concurrency: limits.key_max_concurrency.map(part),
            max_sessions: part(limits.max_sessions),
            rate_limit: limits.rate_limit.map(part_of_rate),
            key_rate_limit: limits.key_rate_limit.map(part_of_rate),
            credit_budget: limits.credit_budget,
        }
    }

    /// Returns the limits of a team over all nodes.
    pub fn of(&self, team: TeamId) -> Limits {
        let by_team = self.by_team.read().unwrap_or_else(PoisonError::into_inner);
        by_team.get(&team).copied().unwrap_or(self.default)
    }

    /// Assigns a plan to a team, with immediate effect; the default limits if there is no plan, or none of
    /// this name.
    pub fn assign(&self, team: TeamId, plan: Option<&str>) {
        let mut by_team = self.by_team.write().unwrap_or_else(PoisonError::into_inner);
        match plan.and_then(|plan| self.plans.get(plan)) {
            Some(limits) => by_team.insert(team, *limits),
            None => by_team.remove(&team),
        };
    }

    /// Returns the highest page limit of any plan.
    pub(crate) fn highest_concurrency(&self) -> usize {
        let all = self.plans.values().chain([&self.default]);
        all.map(|limits| limits.max_concurrency).max().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    impl Limits {
        /// Limits pages and sessions only.
        pub(crate) fn at_once(max_concurrency: usize) -> Limits {
            Limits {
                max_concurrency,
                key_max_concurrency: None,
                max_sessions: max_concurrency,
                rate_limit: None,
                key_rate_limit: None,
                credit_budget: None,
            }
        }
    }

    #[test]
    fn nodes_share_the_limits_of_a_team() {
        let team = TeamId(Uuid::from_u128(1));
        let limit = Limits {
            rate_limit: Some(10),
            ..Limits::at_once(7)
        };
        let parts = |nodes: u64| -> (usize, u32) {
            let plans = Plans::new(limit, BTreeMap::new());
            let part = |index| {
                plans.set_share(NodeShare { index, nodes });
                plans.of_this_node(team)
            };
            let parts: Vec<Limits> = (0..nodes).map(part).collect();
            let pages = parts.iter().map(|limits| limits.max_concurrency).sum();
            let rate = parts.iter().filter_map(|limits| limits.rate_limit).sum();
            assert_eq!(plans.of(team), limit);
            (pages, rate)
        };
        assert_eq!((parts(1), parts(2), parts(3)), ((7, 10), (7, 10), (7, 10)));
        assert_eq!(parts(9), (9, 10), "each node may fetch at least one page");
    }

    #[test]
    fn a_team_has_the_limits_of_its_plan_or_the_default_ones() {
        let (default, small) = (Limits::at_once(8), Limits::at_once(2));
        let plans = Plans::new(default, BTreeMap::from([("small".to_owned(), small)]));
        let [one, other] = [1, 2].map(|id| TeamId(Uuid::from_u128(id)));
        plans.assign(one, Some("small"));
        assert_eq!((plans.of(one), plans.of(other)), (small, default));
        for no_plan in [None, Some("unknown")] {
            plans.assign(one, Some("small"));
            plans.clone().assign(one, no_plan);
            assert_eq!(plans.of(one), default, "{no_plan:?}");
        }
        assert!(plans.has("small") && !plans.has("large"));
        assert_eq!(plans.highest_concurrency(), 8);
    }
}
