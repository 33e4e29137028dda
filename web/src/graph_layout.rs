//! Radial layout of a link graph: the first page in the center, the others on rings by distance from it, each in the
//! sector of its parent. Pure; runs in time linear in the number of pages.

use std::f64::consts::TAU;

/// Minimum distance between two rings.
const RING_GAP: f64 = 90.0;
/// Arc length for each page on its ring.
const NODE_ARC: f64 = 11.0;
/// Number of lines that the pages of a crowded ring are spread over.
const RING_LINES: usize = 6;
/// Distance between those lines, px.
const LINE_GAP: f64 = 14.0;

/// Returns the position of each page; `parents` has the page through which each page was found, if any.
pub fn positions(parents: &[Option<u32>]) -> Vec<(f64, f64)> {
    let count = parents.len();
    let mut children = vec![Vec::new(); count];
    let mut roots = Vec::new();
    for (page, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent as usize].push(page),
            None => roots.push(page),
        }
    }
    // Pages without a parent are placed around the first page, as if it linked to them.
    if roots.len() > 1 {
        let others = roots.split_off(1);
        children[roots[0]].extend(others);
    }
    // Count the leaves below each page, from the outside in; they determine the size of its sector.
    let order = breadth_first(&roots, &children);
    let mut leaves = vec![0.0_f64; count];
    for page in order.iter().rev() {
        leaves[*page] = children[*page]
            .iter()
            .map(|child| leaves[*child])
            .sum::<f64>()
            .max(1.0);
    }
    let mut depth = vec![0_usize; count];
    let mut span = vec![(0.0, TAU); count];
    for page in &order {
        let (mut from, to) = span[*page];
        let share = (to - from)
            / children[*page]
                .iter()
                .map(|child| leaves[*child])
                .sum::<f64>()
                .max(1.0);
        for child in &children[*page] {
            let next = from + share * leaves[*child];
            span[*child] = (from, next);
            depth[*child] = depth[*page] + 1;
            from = next;
        }
    }
    let rings = rings(&depth);
    let mut placed = vec![0_usize; rings.len()];
    let mut positions = vec![(0.0, 0.0); count];
    for page in &order {
        let (radius, crowded) = rings[depth[*page]];
        let line = if crowded {
            placed[depth[*page]] % RING_LINES
        } else {
            0
        };
        placed[depth[*page]] += 1;
        let radius = radius + line as f64 * LINE_GAP;
        let angle = (span[*page].0 + span[*page].1) / 2.0;
        positions[*page] = (radius * angle.cos(), radius * angle.sin());
    }
    positions
}

/// Returns the pages in breadth-first order, each after its parent.
fn breadth_first(roots: &[usize], children: &[Vec<usize>]) -> Vec<usize> {
    let mut order = roots.to_vec();
    let mut at = 0;
    while at < order.len() {
        let page = order[at];
        order.extend_from_slice(&children[page]);
        at += 1;
    }
    order
}

/// Returns the radius of each ring, and whether it is crowded.
fn rings(depth: &[usize]) -> Vec<(f64, bool)> {
    let deepest = depth.iter().copied().max().unwrap_or_default();
    let mut counts = vec![0_usize; deepest + 1];
    depth.iter().for_each(|depth| counts[*depth] += 1);
    let mut rings = Vec::with_capacity(counts.len());
    let mut inner = -RING_GAP;
    for (depth, count) in counts.into_iter().enumerate() {
        let crowded = count > 4 * RING_LINES;
        let lines = if crowded { RING_LINES } else { 1 };
        let needed = count as f64 * NODE_ARC / lines as f64 / TAU;
        let radius = match depth {
            0 => 0.0,
            _ => needed.max(inner + RING_GAP),
        };
        inner = radius + (lines - 1) as f64 * LINE_GAP;
        rings.push((radius, crowded));
    }
    rings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn radius((x, y): (f64, f64)) -> f64 {
        (x * x + y * y).sqrt()
    }

    #[test]
    fn pages_are_on_rings_around_the_first() {
        let positions = positions(&[None, Some(0), Some(0), Some(1)]);
        let radii: Vec<f64> = positions
            .iter()
            .map(|position| radius(*position).round())
            .collect();
        assert_eq!(radii, [0.0, RING_GAP, RING_GAP, 2.0 * RING_GAP]);
    }

    #[test]
    fn pages_of_a_star_have_distinct_positions() {
        let parents: Vec<_> = std::iter::once(None).chain((1..2_000).map(|_| Some(0))).collect();
        let mut positions: Vec<_> = positions(&parents)
            .into_iter()
            .map(|(x, y)| ((x * 10.0) as i64, (y * 10.0) as i64))
            .collect();
        positions.sort_unstable();
        positions.dedup();
        assert_eq!(positions.len(), 2_000);
    }

    #[test]
    fn orphan_pages_and_empty_graphs_have_a_layout() {
        assert!(positions(&[]).is_empty());
        let radii: Vec<f64> = positions(&[None; 3])
            .iter()
            .map(|position| radius(*position).round())
            .collect();
        assert_eq!(radii, [0.0, RING_GAP, RING_GAP]);
    }
}
