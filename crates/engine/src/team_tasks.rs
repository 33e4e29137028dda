//! Tasks that run on behalf of teams, and how many of them each team has.

use std::collections::HashMap;

use harvestman_core::ids::TeamId;
use tokio::task::{Id, JoinError, JoinSet};

/// A set of tasks with their teams. Dropping it aborts them.
#[derive(Debug, Default)]
pub(crate) struct TeamTasks {
    tasks: JoinSet<()>,
    teams: HashMap<Id, TeamId>,
}

impl TeamTasks {
    /// Starts a task of a team.
    pub(crate) fn spawn(&mut self, team: TeamId, task: impl Future<Output = ()> + Send + 'static) {
        let task = self.tasks.spawn(task);
        self.teams.insert(task.id(), team);
    }

    /// Waits until a task ends; returns `None` if there is none. Cancel safe.
    pub(crate) async fn join_next(&mut self) -> Option<()> {
        let ended = self.tasks.join_next_with_id().await?;
        self.remove(ended);
        Some(())
    }

    /// Removes the tasks that have ended.
    pub(crate) fn remove_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            self.remove(ended);
        }
    }

    fn remove(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = ended.map_or_else(|panic| panic.id(), |(id, ())| id);
        self.teams.remove(&id);
    }

    /// Returns the number of tasks that were not removed.
    pub(crate) fn len(&self) -> usize {
        self.teams.len()
    }

    /// Returns how many of them each team has.
    pub(crate) fn by_team(&self) -> HashMap<TeamId, u64> {
        let mut counts = HashMap::new();
        for team in self.teams.values() {
            *counts.entry(*team).or_default() += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn tasks_count_for_their_team_until_they_end_or_panic() {
        let [one, two] = [1, 2].map(|id| TeamId(Uuid::from_u128(id)));
        let mut tasks = TeamTasks::default();
        let (end, ended) = oneshot::channel::<()>();
        tasks.spawn(one, async move { ended.await.unwrap() });
        tasks.spawn(one, std::future::pending());
        tasks.spawn(two, async { panic!("this task panics") });
        assert_eq!(tasks.join_next().await, Some(()));
        assert_eq!(tasks.by_team(), HashMap::from([(one, 2)]));
        end.send(()).unwrap();
        while tasks.len() == 2 {
            tokio::task::yield_now().await;
            tasks.remove_ended();
        }
        assert_eq!(tasks.by_team(), HashMap::from([(one, 1)]));
        drop(tasks);
        assert_eq!(TeamTasks::default().join_next().await, None);
    }
}
