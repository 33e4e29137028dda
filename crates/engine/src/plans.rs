//! The limits of each team: the default limits, or those of the plan that the operator assigned. Assignments
//! are stored; this is a copy in memory that is read for every page without waiting.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use harvestman_core::ids::TeamId;
use parking_lot::RwLock;

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

impl Limits {
    /// Creates limits of pages and sessions only.
    pub(crate) fn at_once(max_concurrency: usize) -> Self {
        Self {
            max_concurrency,
            key_max_concurrency: None,
            max_sessions: max_concurrency,
            rate_limit: None,
            key_rate_limit: None,
            credit_budget: None,
        }
    }
}

/// The limits of all teams. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Plans {
    default: Limits,
    plans: Arc<BTreeMap<String, Limits>>,
    by_team: Arc<RwLock<HashMap<TeamId, Limits>>>,
}

impl Plans {
    /// Creates the limits from the default limits and those of each plan.
    pub fn new(default: Limits, plans: BTreeMap<String, Limits>) -> Self {
        Self {
            default,
            plans: Arc::new(plans),
            by_team: Arc::default(),
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

    /// Returns the limits of a team across all nodes.
    pub fn of(&self, team: TeamId) -> Limits {
        let by_team = self.by_team.read();
        by_team.get(&team).copied().unwrap_or(self.default)
    }

    /// Assigns a plan to a team, with immediate effect; the default limits if there is no plan, or none of
    /// this name.
    pub fn assign(&self, team: TeamId, plan: Option<&str>) {
        let mut by_team = self.by_team.write();
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
