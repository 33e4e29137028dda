//! An amount of something that all teams share. A team may hold as much as it leaves for all others, so that no team
//! takes everything, however much it asks for.

use std::collections::HashMap;
use std::sync::Arc;

use harvestman_core::ids::TeamId;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// What is left, and what each team holds. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct TeamShares {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    amounts: Mutex<Amounts>,
    released: Notify,
}

#[derive(Debug)]
struct Amounts {
    free: usize,
    /// Never 0.
    held: HashMap<TeamId, usize>,
}

/// What one holder of a team took; released on drop.
#[derive(Debug)]
pub(crate) struct TeamShare {
    shared: Arc<Shared>,
    team: TeamId,
    amount: usize,
}

impl TeamShares {
    pub(crate) fn new(total: usize) -> Self {
        let amounts = Mutex::new(Amounts {
            free: total,
            held: HashMap::new(),
        });
        Self {
            shared: Arc::new(Shared {
                amounts,
                released: Notify::new(),
            }),
        }
    }

    /// Takes an amount if the team may hold that much more now.
    pub(crate) fn try_take(&self, team: TeamId, amount: usize) -> Option<TeamShare> {
        let mut amounts = self.shared.amounts.lock();
        let held = amounts.held.get(&team).copied().unwrap_or_default();
        if held.saturating_add(amount) > amounts.free {
            return None;
        }
        amounts.free -= amount;
        *amounts.held.entry(team).or_default() += amount;
        Some(TeamShare {
            shared: self.shared.clone(),
            team,
            amount,
        })
    }

    /// Waits until the team may hold one more, and takes it.
    pub(crate) async fn take_one(&self, team: TeamId) -> TeamShare {
        loop {
            let mut released = std::pin::pin!(self.shared.released.notified());
            released.as_mut().enable();
            if let Some(share) = self.try_take(team, 1) {
                return share;
            }
            released.await;
        }
    }
}

impl Drop for TeamShare {
    fn drop(&mut self) {
        let mut amounts = self.shared.amounts.lock();
        amounts.free += self.amount;
        if let Some(held) = amounts.held.get_mut(&self.team) {
            *held -= self.amount;
            if *held == 0 {
                amounts.held.remove(&self.team);
            }
        }
        drop(amounts);
        self.shared.released.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::poll;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_team_leaves_as_much_as_it_holds() {
        let [one, two] = [1, 2].map(|id| TeamId(Uuid::from_u128(id)));
        let shares = TeamShares::new(8);
        let mut held: Vec<_> = std::iter::from_fn(|| shares.try_take(one, 1)).collect();
        assert_eq!(held.len(), 4);
        assert!(shares.try_take(two, 5).is_none());
        let _others = shares.try_take(two, 2).unwrap();
        let mut waiting = Box::pin(shares.take_one(one));
        assert!(poll!(&mut waiting).is_pending());
        held.pop();
        assert!(poll!(&mut waiting).is_pending(), "3 of its own, 3 free");
        held.pop();
        let _next = waiting.await;
        held.clear();
        assert_eq!(shares.shared.amounts.lock().held.len(), 2);
    }

    #[tokio::test]
    async fn a_single_unit_can_be_taken() {
        let team = TeamId(Uuid::from_u128(1));
        let shares = TeamShares::new(1);
        let held = shares.take_one(team).await;
        assert!(shares.try_take(team, 1).is_none());
        drop(held);
        assert!(shares.try_take(team, 1).is_some());
    }
}
