//! Limits that all nodes of a database share: each node holds units of them, and borrows more or gives them back as
//! its work changes. Also requests per minute, and when requests to a host may start.

use std::time::Duration;

use harvestman_core::ids::TeamId;
use uuid::Uuid;

/// How much of a limit a node needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Demand {
    /// Names what is limited, and whose limit it is.
    pub subject: String,
    /// Units that cannot be given back now.
    pub in_use: u64,
    /// Units that could be used now, including those in use.
    pub wanted: u64,
    /// The limit across all nodes.
    pub limit: u64,
    /// The limit is a budget of credits per month: what this team has spent this month is subtracted.
    pub budget_of: Option<TeamId>,
    /// Whether work waits for the units it wants: other nodes then give back what exceeds their part. Otherwise,
    /// units that are not free do not count as wanted.
    pub waits: bool,
}

/// What a node got.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Holding {
    /// Units that the node may use from now on.
    pub held: u64,
    /// Units that other nodes hold.
    pub held_elsewhere: u64,
    /// Credits that the team has spent this month, if the limit is a budget.
    pub spent: u64,
}

/// Requests that a node may let pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateGrant {
    /// Their number.
    pub requests: u32,
    /// Time until the end of the window, for which the grant is valid.
    pub valid_for: Duration,
}

/// A row of a node that holds or wants units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) node: Uuid,
    pub(crate) held: u64,
    pub(crate) wanted: u64,
}

/// Returns what `node` may hold of a limit. `turn` changes with time, so that nodes take turns if there are more
/// nodes than units.
pub(crate) fn allot(limit: u64, demand: &Demand, node: Uuid, others: &[Part], turn: u64) -> u64 {
    let elsewhere: u64 = others.iter().map(|part| part.held).sum();
    let free = limit.saturating_sub(elsewhere);
    let due = match demand.waits {
        true => fair_part(limit, demand.wanted, node, others, turn),
        false => demand.wanted,
    };
    due.min(free).max(demand.in_use)
}

/// Divides a limit between the nodes that want units: no node gets more than it wants, and what one leaves is split
/// equally among the others.
fn fair_part(limit: u64, wanted: u64, node: Uuid, others: &[Part], turn: u64) -> u64 {
    let mut nodes: Vec<(Uuid, u64)> = others
        .iter()
        .map(|part| (part.node, part.wanted.max(part.held)))
        .chain([(node, wanted)])
        .filter(|(_, wanted)| *wanted > 0)
        .collect();
    nodes.sort_unstable();
    let count = nodes.len().max(1);
    let first = usize::try_from(turn).unwrap_or_default() % count;
    nodes.rotate_left(first);
    let (mut left, mut part) = (limit, 0);
    // Nodes that want least come first; the sort is stable, so that turns decide among equals.
    nodes.sort_by_key(|(_, wanted)| *wanted);
    for (index, (id, wanted)) in nodes.iter().enumerate() {
        let remaining = (count - index) as u64;
        let given = (*wanted).min(left.div_ceil(remaining));
        left -= given;
        if *id == node {
            part = given;
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of times that a node reports per turn, given the intervals of the engine.
    const REPORTS_PER_TURN: u64 = 4;

    fn id(number: usize) -> Uuid {
        Uuid::from_u128(number as u128 + 1)
    }

    /// Returns what each node holds after some rounds, in each of which every node reports the same demand.
    fn settle(limit: u64, demands: &[(u64, u64)], rounds: u64) -> Vec<u64> {
        let mut held = vec![0; demands.len()];
        for round in 0..rounds {
            for (node, (in_use, wanted)) in demands.iter().enumerate() {
                let others: Vec<Part> = (0..demands.len())
                    .filter(|other| *other != node)
                    .map(|other| Part {
                        node: id(other),
                        held: held[other],
                        wanted: demands[other].1,
                    })
                    .collect();
                let demand = Demand {
                    subject: String::new(),
                    in_use: (*in_use).min(held[node]),
                    wanted: *wanted,
                    limit,
                    budget_of: None,
                    waits: true,
                };
                held[node] = allot(limit, &demand, id(node), &others, round / REPORTS_PER_TURN);
                assert!(held.iter().sum::<u64>() <= limit, "{held:?}");
            }
        }
        held
    }

    #[test]
    fn one_node_may_have_everything_and_several_share() {
        assert_eq!(settle(64, &[(0, 64)], 1), [64]);
        assert_eq!(settle(64, &[(0, 64), (0, 0)], 2), [64, 0]);
        assert_eq!(settle(64, &[(0, 64), (0, 64)], 3), [32, 32]);
        assert_eq!(settle(64, &[(0, 64), (0, 4)], 3), [60, 4]);
        assert_eq!(settle(64, &[(0, 100), (0, 10), (0, 100)], 4), [27, 10, 27]);
    }

    #[test]
    fn units_in_use_are_kept_until_they_are_free() {
        let demand = |in_use| Demand {
            subject: String::new(),
            in_use,
            wanted: 8,
            limit: 8,
            budget_of: None,
            waits: true,
        };
        let part = |node, held| Part {
            node: id(node),
            held,
            wanted: 8,
        };
        // The first node took everything before the second one came.
        assert_eq!(allot(8, &demand(8), id(0), &[part(1, 0)], 0), 8);
        assert_eq!(allot(8, &demand(0), id(1), &[part(0, 8)], 0), 0);
        assert_eq!(allot(8, &demand(6), id(0), &[part(1, 0)], 0), 6);
        assert_eq!(allot(8, &demand(0), id(1), &[part(0, 6)], 0), 2);
        assert_eq!(allot(8, &demand(3), id(0), &[part(1, 2)], 0), 4);
    }

    #[test]
    fn nodes_take_turns_where_there_are_fewer_units_than_nodes() {
        let mut served = [0; 3];
        for rounds in 40..160 {
            for (node, held) in settle(1, &[(0, 1), (0, 1), (0, 1)], rounds).iter().enumerate() {
                served[node] += held;
            }
        }
        assert!(served.iter().all(|times| *times > 12), "{served:?}");
    }

    #[test]
    fn what_is_not_free_is_not_promised_to_work_that_does_not_wait() {
        let demand = Demand {
            subject: String::new(),
            in_use: 2,
            wanted: 3,
            limit: 4,
            budget_of: None,
            waits: false,
        };
        let other = |held| Part {
            node: id(1),
            held,
            wanted: held,
        };
        assert_eq!(allot(4, &demand, id(0), &[other(1)], 0), 3);
        assert_eq!(allot(4, &demand, id(0), &[other(2)], 0), 2);
        assert_eq!(allot(4, &demand, id(0), &[], 0), 3);
    }
}
