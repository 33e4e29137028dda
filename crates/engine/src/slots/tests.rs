use std::cell::Cell;

use uuid::Uuid;

use super::*;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a team, key or job that is looked at to find the next waiter.
pub(super) fn count_step() {
    STEPS.set(STEPS.get() + 1);
}

fn team(number: usize) -> TeamId {
    TeamId(Uuid::from_u128(number as u128))
}

fn job(number: usize) -> JobId {
    JobId(Uuid::from_u128(number as u128))
}

/// The owner of a page: a job without a key.
fn owner(of_team: usize, of_job: usize) -> SlotOwner {
    SlotOwner::of_team(team(of_team), job(of_job))
}

fn plans(per_team: usize) -> Plans {
    Plans::new(Limits::at_once(per_team), BTreeMap::new())
}

fn shares<W>(per_team: usize, total: usize) -> Shares<W> {
    Shares::new(plans(per_team), Holdings::new(None), SlotKind::Plain, total)
}

/// A job that always wants one more page, and how long each of its pages takes.
struct SimulatedJob {
    team: usize,
    page_ms: u64,
}

/// Simulates jobs on virtual time. Returns the pages that each job finished within `until_ms`, and its
/// longest wait.
fn run(per_team: usize, total: usize, jobs: &[SimulatedJob], until_ms: u64) -> Vec<(u64, u64)> {
    let mut shares = shares(per_team, total);
    let mut ended = vec![(0, 0); jobs.len()];
    let mut asked_at = vec![0; jobs.len()];
    // Ordered by end time, then by start.
    let mut running: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    let (mut now, mut started) = (0, 0);
    for (number, simulated_job) in jobs.iter().enumerate() {
        shares.enqueue(owner(simulated_job.team, number), number);
    }
    loop {
        while let Some((of, number)) = shares.assign_next(|_| false) {
            assert_eq!((of.team, of.job), (team(jobs[number].team), job(number)));
            assert!(shares.in_use(of.team) <= per_team && shares.in_use <= total);
            ended[number].1 = ended[number].1.max(now - asked_at[number]);
            started += 1;
            running.insert((now + jobs[number].page_ms, started), number);
            asked_at[number] = now;
            shares.enqueue(of, number);
        }
        let ((at, _), number) = running.pop_first().unwrap();
        if at > until_ms {
            return ended;
        }
        now = at;
        ended[number].0 += 1;
        shares.release(owner(jobs[number].team, number));
    }
}

fn simulated_job(team: usize, page_ms: u64) -> SimulatedJob {
    SimulatedJob { team, page_ms }
}

#[test]
fn equal_jobs_of_a_team_get_equal_shares() {
    let jobs: Vec<_> = (0..50).map(|_| simulated_job(0, 100)).collect();
    for (pages, longest_wait) in run(8, 100, &jobs, 100_000) {
        // 8 slots, 10 pages per second each, 100 s, 50 jobs.
        assert!((158..=162).contains(&pages), "{pages}");
        assert!(longest_wait <= 700, "{longest_wait}");
    }
}

#[test]
fn slow_pages_of_one_job_do_not_take_the_slots_of_others() {
    let ended = run(
        4,
        100,
        &[simulated_job(0, 60_000), simulated_job(0, 100)],
        600_000,
    );
    // With round robin the slow job would soon hold all four slots.
    assert!(ended[1].0 > 11_000, "{ended:?}");
    assert_eq!(ended[0].0, 20, "two slots, ten minutes: {ended:?}");
}

#[test]
fn a_team_with_many_jobs_gets_no_more_than_a_team_with_one_job() {
    let mut jobs: Vec<_> = (0..100).map(|_| simulated_job(0, 50)).collect();
    jobs.push(simulated_job(1, 50));
    jobs.push(simulated_job(2, 50));
    let ended = run(8, 12, &jobs, 60_000);
    let many: u64 = ended[..100].iter().map(|(pages, _)| pages).sum();
    for (pages, longest_wait) in &ended[100..] {
        assert!(many.abs_diff(*pages) <= many / 50, "{many} and {pages}");
        assert!(*longest_wait <= 50, "{longest_wait}");
    }
    assert!(ended.iter().all(|(pages, _)| *pages > 40), "{ended:?}");
}

#[test]
fn teams_take_turns_when_the_total_is_limited() {
    let jobs: Vec<_> = (0..5).map(|number| simulated_job(number, 10)).collect();
    let ended = run(8, 2, &jobs, 10_000);
    for (pages, longest_wait) in ended {
        assert!((398..=402).contains(&pages), "{pages}");
        assert!(longest_wait <= 30, "{longest_wait}");
    }
}

#[test]
fn teams_without_slots_leave_no_entry() {
    let mut shares = shares(2, 2);
    for number in 0..100 {
        shares.enqueue(owner(number, number), ());
        assert!(shares.assign_next(|()| false).is_some());
        shares.release(owner(number, number));
    }
    // Waiters that are gone leave none either.
    shares.enqueue(owner(1, 1), ());
    assert!(shares.assign_next(|()| true).is_none());
    assert!(shares.is_empty());
}

#[test]
fn the_next_of_many_waiters_is_found_in_few_steps() {
    let of_key = |key: u128, job| SlotOwner {
        key: Some(KeyId(Uuid::from_u128(key))),
        ..owner(job % 10, job)
    };
    let limits = Limits {
        key_max_concurrency: Some(1),
        ..Limits::at_once(4)
    };
    let plans = Plans::new(limits, BTreeMap::new());
    let mut shares = Shares::new(plans, Holdings::new(None), SlotKind::Plain, 20);
    // Of every team, one key waits with many jobs and others with few; single teams and a job wait behind them.
    for job in 0..100_000 {
        let key = if job < 99_000 { 0 } else { job as u128 % 70 };
        shares.enqueue(of_key(key, job), ());
    }
    for team in 100_000..100_500 {
        shares.enqueue(owner(team, team), ());
        shares.enqueue(owner(0, 0), ());
    }
    let mut assigned: Vec<SlotOwner> = Vec::new();
    while let Some((owner, ())) = shares.assign_next(|()| false) {
        assigned.push(owner);
    }
    assert_eq!(assigned.len(), 20);
    STEPS.set(0);
    for release in 0..1_000 {
        shares.release(assigned[release]);
        let (owner, ()) = shares.assign_next(|()| false).unwrap();
        assigned.push(owner);
    }
    assert!(STEPS.get() < 1_000 * 50, "{} steps", STEPS.get());
}

#[tokio::test]
async fn waiters_are_served_in_order_and_report_their_wait() {
    let slots = Slots::new(plans(1), Holdings::new(None), 1, None);
    let (held, queue_time) = slots.acquire(owner(1, 0), SlotKind::Plain).await;
    assert!(queue_time.0.is_none());
    let mut waiters: Vec<SlotRequest> = (1..4)
        .map(|number| slots.request(owner(1, number), SlotKind::Plain))
        .collect();
    assert_eq!(slots.in_use(team(1)), 1);
    // A waiter that went away is skipped.
    drop(waiters.remove(1));
    drop(held);
    for mut waiter in waiters {
        let (slot, queue_time) = waiter.wait().await;
        assert!(queue_time.0.is_some());
        assert_eq!(slots.in_use(team(1)), 1);
        drop(slot);
    }
    assert_eq!(slots.in_use(team(1)), 0);
}

#[tokio::test]
async fn teams_do_not_take_each_others_slots() {
    let slots = Slots::new(plans(2), Holdings::new(None), 1, None);
    let _held = [
        slots.acquire(owner(1, 1), SlotKind::Plain).await,
        slots.acquire(owner(1, 1), SlotKind::Plain).await,
    ];
    assert!(slots.request(owner(1, 2), SlotKind::Plain).try_slot().is_none());
    let (_slot, queue_time) = slots.acquire(owner(2, 3), SlotKind::Plain).await;
    assert!(queue_time.0.is_none());
    assert_eq!((slots.in_use(team(1)), slots.in_use(team(2))), (2, 1));
}

#[tokio::test]
async fn an_abandoned_slot_goes_to_the_next_waiter() {
    let slots = Slots::new(plans(1), Holdings::new(None), 1, None);
    let held = slots.acquire(owner(1, 1), SlotKind::Plain).await;
    let abandoned = slots.request(owner(1, 2), SlotKind::Plain);
    let mut next = slots.request(owner(1, 3), SlotKind::Plain);
    drop(held);
    // The slot was already sent to the abandoned request, which has not been dropped yet.
    assert!(next.try_slot().is_none());
    drop(abandoned);
    assert!(next.try_slot().is_some());
}

#[tokio::test]
async fn browser_pages_and_http_pages_do_not_wait_for_each_other() {
    let slots = Slots::new(plans(2), Holdings::new(None), 1, None);
    let (held, queue_time) = slots.acquire(owner(1, 1), SlotKind::Browser).await;
    assert!(!queue_time.waited() && held.kind() == SlotKind::Browser);
    // Browser slots are shared by all teams.
    let mut next = slots.request(owner(2, 2), SlotKind::Browser);
    assert!(next.try_slot().is_none());
    let _plain = [
        slots.acquire(owner(1, 1), SlotKind::Plain).await,
        slots.acquire(owner(1, 1), SlotKind::Plain).await,
    ];
    assert_eq!(slots.in_use(team(1)), 3);
    assert!(slots.request(owner(1, 1), SlotKind::Plain).try_slot().is_none());
    drop(held);
    assert!(next.try_slot().is_some());
    assert_eq!(slots.in_use(team(1)), 2);
}

#[test]
fn waits_add_up() {
    let wait = |ms| QueueTime::of(Duration::from_millis(ms));
    assert_eq!(QueueTime::default().and(QueueTime::default()).0, None);
    assert_eq!(QueueTime::default().and(wait(5)).0, wait(5).0);
    assert_eq!(wait(7).and(wait(5)).0, wait(12).0);
}

#[test]
fn a_wait_is_recorded_in_the_document() {
    let mut metadata = Metadata::default();
    QueueTime(None).record_in(&mut metadata);
    let recorded = |metadata: &Metadata| {
        (
            metadata.concurrency_limited,
            metadata.concurrency_queue_duration_ms,
        )
    };
    assert_eq!(recorded(&metadata), (Some(false), None));
    QueueTime(Some(Duration::from_millis(12))).record_in(&mut metadata);
    assert_eq!(recorded(&metadata), (Some(true), Some(12)));
}

#[tokio::test]
async fn a_key_is_limited_to_its_share_of_the_teams_slots() {
    let limits = Limits {
        key_max_concurrency: Some(1),
        ..Limits::at_once(2)
    };
    let slots = Slots::new(Plans::new(limits, BTreeMap::new()), Holdings::new(None), 1, None);
    let with = |key: u128, of_job| SlotOwner {
        key: Some(KeyId(Uuid::from_u128(key))),
        ..owner(1, of_job)
    };
    let held = slots.acquire(with(1, 1), SlotKind::Plain).await;
    let mut same_key = slots.request(with(1, 2), SlotKind::Plain);
    assert!(same_key.try_slot().is_none());
    // A later request of another key does not wait for it.
    let (other, queue_time) = slots.acquire(with(2, 3), SlotKind::Plain).await;
    assert!(queue_time.0.is_none());
    assert!(
        slots.request(with(3, 4), SlotKind::Plain).try_slot().is_none(),
        "the team has only two slots"
    );
    drop(other);
    assert!(same_key.try_slot().is_none());
    drop(held);
    assert!(same_key.try_slot().is_some());
}

#[tokio::test]
async fn a_plan_takes_effect_immediately() {
    let plans = Plans::new(
        Limits::at_once(1),
        BTreeMap::from([("more".to_owned(), Limits::at_once(2))]),
    );
    let slots = Slots::new(plans.clone(), Holdings::new(None), 1, None);
    let _held = slots.acquire(owner(1, 1), SlotKind::Plain).await;
    assert!(slots.request(owner(1, 2), SlotKind::Plain).try_slot().is_none());
    plans.assign(team(1), Some("more"));
    assert!(slots.request(owner(1, 2), SlotKind::Plain).try_slot().is_some());
    let _other = slots.acquire(owner(2, 3), SlotKind::Plain).await;
    assert!(
        slots.request(owner(2, 4), SlotKind::Plain).try_slot().is_none(),
        "other teams keep their plan"
    );
}
