//! Averages the model's odds over blocks that look alike. A list of products or posts repeats one pattern, so
//! whether its prices or signatures are content is decided once, not for each of them: what the model sees of a
//! single one depends on its length and place.

use super::block::{Block, Look};
use crate::hash::HashMap;

/// Sets the odds of every block to the mean of the blocks that look like it.
pub(super) fn average(blocks: &[Block], odds: &mut [i32]) {
    let mut sums: HashMap<Look, (i64, i64)> = HashMap::default();
    for (block, &odds) in blocks.iter().zip(odds.iter()) {
        let (sum, count) = sums.entry(block.look).or_default();
        *sum += i64::from(odds);
        *count += 1;
    }
    for (block, odds) in blocks.iter().zip(odds) {
        let (sum, count) = sums[&block.look];
        *odds = (sum / count) as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::PageKind;
    use super::super::test_page::TestPage;
    use super::*;

    /// Returns the odds of the blocks of a page that has odds of 10, 20, 30 and so on.
    fn averaged(html: &str) -> Vec<i32> {
        let blocks = TestPage::of(PageKind::Other, html).blocks;
        let mut odds: Vec<i32> = (1..=blocks.len() as i32).map(|at| at * 10).collect();
        average(&blocks, &mut odds);
        odds
    }

    #[test]
    fn blocks_that_look_alike_have_the_same_odds() {
        let cases: [(&str, &[i32]); 6] = [
            ("<ul><li>One<li>Two<li>Three and four</ul>", &[20, 20, 20]),
            ("<p>One<p>Two<div>Three</div>", &[15, 15, 30]),
            // The prices of two products, and their names.
            (
                "<div><b class=title>A</b><p class=price>1</p></div><div><b class=title>B</b><p class=price>2</p></div>",
                &[20, 30, 20, 30],
            ),
            ("<p>One</p><div><p>Deeper</p></div>", &[10, 20]),
            ("<p>One</p><p class=price>Named</p>", &[10, 20]),
            ("", &[]),
        ];
        for (html, odds) in cases {
            assert_eq!(averaged(html), odds, "{html}");
        }
    }
}
