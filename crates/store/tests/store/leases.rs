//! Tests of how free shards are divided among teams.

use harvestman_core::ids::TeamId;
use harvestman_store::{Lease, LeaseRoom, Store};

use crate::fixtures::{LEASE_MS, NOW, TestFolder, crawl, room};

async fn create_jobs(store: &Store, team: TeamId, count: usize) {
    for _ in 0..count {
        store.create_crawl(&crawl(team, 5), None).await.unwrap();
    }
}

async fn leased(store: &Store, room: &LeaseRoom) -> Vec<Lease> {
    store.lease("node", NOW, LEASE_MS, room).await.unwrap()
}

async fn a_team_with_many_jobs_leaves_room(folder: TestFolder) {
    let store = folder.open().await;
    let busy = store.ensure_team("busy").await.unwrap();
    let late = store.ensure_team("late").await.unwrap();
    create_jobs(&store, busy, 30).await;
    let mut room = LeaseRoom {
        capacity: 16,
        ..room(100)
    };
    let first = leased(&store, &room).await;
    assert_eq!(first.len(), 8, "no team gets more than it leaves for others");
    room.driven.insert(busy, 8);
    assert_eq!(leased(&store, &room).await, []);
    create_jobs(&store, late, 1).await;
    let second = leased(&store, &room).await;
    assert_eq!(second.iter().map(|lease| lease.team).collect::<Vec<_>>(), [late]);

    // The oldest jobs of each team, of the team with the fewest first.
    create_jobs(&store, late, 9).await;
    room.driven.insert(late, 1);
    room.capacity = 100;
    room.limit = 11;
    let third = leased(&store, &room).await;
    let of = |team| third.iter().filter(move |lease| lease.team == team);
    assert_eq!((of(busy).count(), of(late).count()), (2, 9));
    let newest_before = first.iter().map(|lease| lease.job).max();
    assert!(of(busy).all(|lease| Some(lease.job) > newest_before));
    room.limit = 1;
    let next = leased(&store, &room).await;
    assert!(next[0].team == busy && of(busy).all(|lease| lease.job < next[0].job));
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_team_with_many_jobs_leaves_room_for_others() {
    a_team_with_many_jobs_leaves_room(TestFolder::new("leases")).await;
}

#[tokio::test]
async fn a_team_with_many_jobs_leaves_room_for_others_on_postgresql() {
    a_team_with_many_jobs_leaves_room(TestFolder::postgres("leases")).await;
}
