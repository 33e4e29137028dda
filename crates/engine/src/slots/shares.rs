//! Slots in use and waiters. Teams, the keys of a team and the jobs of a key are ranked, so the next waiter is found
//! without a walk over all waiters: only those are passed over that have as many slots as they may, or that wait for
//! units of this node.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::Hash;

use harvestman_core::crawl::SlotKind;
use harvestman_core::ids::{JobId, KeyId, TeamId};

use super::SlotOwner;
use crate::holdings::{Holdings, Need, Pages, Subject};
use crate::plans::Plans;

/// Slots in use and waiters; `W` is the channel to a waiter.
#[derive(Debug)]
pub(super) struct Shares<W> {
    plans: Plans,
    holdings: Holdings,
    kind: SlotKind,
    total: usize,
    pub(super) in_use: usize,
    assigned: u64,
    arrived: u64,
    teams: Ranking<TeamId, Team<W>>,
}

#[derive(Debug)]
struct Team<W> {
    in_use: usize,
    /// Value of `assigned` when the team got its last slot.
    served: u64,
    keys: Ranking<Option<KeyId>, Key<W>>,
}

#[derive(Debug)]
struct Key<W> {
    in_use: usize,
    jobs: Ranking<JobId, Job<W>>,
}

#[derive(Debug)]
struct Job<W> {
    in_use: usize,
    /// In order of arrival, with the value of `arrived`.
    waiting: VecDeque<(u64, W)>,
}

/// Slots in use, then arrival or last turn: the lowest is next.
type Rank = (usize, u64);

/// A member of a [`Ranking`].
trait Member {
    /// Returns the rank; `None` if nobody waits.
    fn rank(&self) -> Option<Rank>;
    fn in_use(&self) -> usize;
}

/// Members that have slots or waiters; those with waiters in the order in which they get slots.
#[derive(Debug)]
struct Ranking<K, M> {
    members: HashMap<K, M>,
    waiting: BTreeSet<(Rank, K)>,
}

impl<K: Copy + Ord + Hash, M: Member + Default> Ranking<K, M> {
    /// Changes a member and ranks it again.
    fn update<R>(&mut self, key: K, change: impl FnOnce(&mut M) -> R) -> R {
        let member = self.members.entry(key).or_default();
        if let Some(rank) = member.rank() {
            self.waiting.remove(&(rank, key));
        }
        let result = change(member);
        match member.rank() {
            Some(rank) => {
                self.waiting.insert((rank, key));
            }
            None if member.in_use() == 0 => {
                self.members.remove(&key);
            }
            None => {}
        }
        result
    }

    /// Returns the members with waiters, the next one first.
    fn in_order(&self) -> impl Iterator<Item = (K, &M)> {
        self.waiting.iter().map(|(_, key)| {
            #[cfg(test)]
            super::tests::count_step();
            (*key, &self.members[key])
        })
    }

    fn get(&self, key: K) -> Option<&M> {
        self.members.get(&key)
    }
}

impl<W> Shares<W> {
    pub(super) fn new(plans: Plans, holdings: Holdings, kind: SlotKind, total: usize) -> Self {
        Self {
            plans,
            holdings,
            kind,
            total,
            in_use: 0,
            assigned: 0,
            arrived: 0,
            teams: Ranking::default(),
        }
    }

    pub(super) fn waits(&self, team: TeamId) -> bool {
        self.teams.get(team).is_some_and(|team| team.rank().is_some())
    }

    /// Returns how many pages each team needs, and each of its keys that has a limit.
    pub(super) fn needs(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        let mut add = |subject, in_use: usize, waiting: usize, limit: usize| {
            needs.push(Need {
                subject,
                in_use: in_use as u64,
                wanted: (in_use + waiting).min(limit) as u64,
                limit: limit as u64,
            });
        };
        for (id, team) in &self.teams.members {
            let limits = self.plans.of(*id);
            let waiting = team.keys.members.values().map(Key::waiting).sum();
            let limit = limits.max_concurrency.max(1);
            add(
                Subject::TeamPages(self.kind.into(), *id),
                team.in_use,
                waiting,
                limit,
            );
            let Some(limit) = limits.key_max_concurrency else {
                continue;
            };
            for (id, key) in &team.keys.members {
                if let Some(id) = id {
                    let subject = Subject::KeyPages(self.kind.into(), *id);
                    add(subject, key.in_use, key.waiting(), limit.max(1));
                }
            }
        }
        needs
    }

    /// Returns whether nobody has or waits for a slot.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.in_use == 0 && self.teams.members.is_empty()
    }

    pub(super) fn in_use(&self, team: TeamId) -> usize {
        self.teams.get(team).map_or(0, |team| team.in_use)
    }

    pub(super) fn enqueue(&mut self, owner: SlotOwner, waiter: W) {
        self.arrived += 1;
        let arrived = self.arrived;
        self.update_job(owner, |job| job.waiting.push_back((arrived, waiter)));
    }

    pub(super) fn release(&mut self, owner: SlotOwner) {
        self.count(owner, |in_use| *in_use -= 1);
    }

    /// Assigns the next free slot to a waiter and returns it; skips waiters that are `gone`.
    pub(super) fn assign_next(&mut self, gone: impl Fn(&W) -> bool) -> Option<(SlotOwner, W)> {
        while self.in_use < self.total {
            let owner = self.next_owner()?;
            let (_, waiter) = self.update_job(owner, |job| job.waiting.pop_front())?;
            if gone(&waiter) {
                continue;
            }
            self.assigned += 1;
            self.count(owner, |in_use| *in_use += 1);
            let assigned = self.assigned;
            self.teams.update(owner.team, |team| team.served = assigned);
            return Some((owner, waiter));
        }
        None
    }

    /// Returns the owner of the next page: of the first team that may have another slot, the first key that may have
    /// one, and its first job.
    fn next_owner(&self) -> Option<SlotOwner> {
        self.teams.in_order().find_map(|(id, team)| {
            let limits = self.plans.of(id);
            let pages = Pages::from(self.kind);
            let units = |subject| usize::try_from(self.holdings.units(subject)).unwrap_or(usize::MAX);
            let limit = limits.max_concurrency.max(1);
            if team.in_use >= limit.min(units(Subject::TeamPages(pages, id))) {
                return None;
            }
            let has_room = |id: Option<KeyId>, key: &Key<W>| {
                let (Some(limit), Some(id)) = (limits.key_max_concurrency, id) else {
                    return true;
                };
                key.in_use < limit.max(1).min(units(Subject::KeyPages(pages, id)))
            };
            let (key, jobs) = team
                .keys
                .in_order()
                .find_map(|(id, key)| has_room(id, key).then_some((id, &key.jobs)))?;
            let (job, _) = jobs.in_order().next()?;
            Some(SlotOwner { team: id, key, job })
        })
    }

    /// Changes the numbers of slots in use: of a job, its key, its team, and all teams.
    fn count(&mut self, owner: SlotOwner, change: impl Fn(&mut usize)) {
        change(&mut self.in_use);
        self.teams.update(owner.team, |team| {
            change(&mut team.in_use);
            team.keys.update(owner.key, |key| {
                change(&mut key.in_use);
                key.jobs.update(owner.job, |job| change(&mut job.in_use));
            });
        });
    }

    fn update_job<R>(&mut self, owner: SlotOwner, change: impl FnOnce(&mut Job<W>) -> R) -> R {
        self.teams.update(owner.team, |team| {
            team.keys
                .update(owner.key, |key| key.jobs.update(owner.job, change))
        })
    }
}

impl<W> Member for Team<W> {
    fn rank(&self) -> Option<Rank> {
        self.keys.waiting.first().map(|_| (self.in_use, self.served))
    }

    fn in_use(&self) -> usize {
        self.in_use
    }
}

impl<W> Key<W> {
    fn waiting(&self) -> usize {
        self.jobs.members.values().map(|job| job.waiting.len()).sum()
    }
}

impl<W> Member for Key<W> {
    fn rank(&self) -> Option<Rank> {
        self.jobs.waiting.first().map(|(rank, _)| *rank)
    }

    fn in_use(&self) -> usize {
        self.in_use
    }
}

impl<W> Member for Job<W> {
    fn rank(&self) -> Option<Rank> {
        self.waiting.front().map(|(arrived, _)| (self.in_use, *arrived))
    }

    fn in_use(&self) -> usize {
        self.in_use
    }
}

impl<K, M> Default for Ranking<K, M> {
    fn default() -> Self {
        Self {
            members: HashMap::new(),
            waiting: BTreeSet::new(),
        }
    }
}

impl<W> Default for Team<W> {
    fn default() -> Self {
        Self {
            in_use: 0,
            served: 0,
            keys: Ranking::default(),
        }
    }
}

impl<W> Default for Key<W> {
    fn default() -> Self {
        Self {
            in_use: 0,
            jobs: Ranking::default(),
        }
    }
}

impl<W> Default for Job<W> {
    fn default() -> Self {
        Self {
            in_use: 0,
            waiting: VecDeque::new(),
        }
    }
}
