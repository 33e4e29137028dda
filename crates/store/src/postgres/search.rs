//! Full-text search over the cached pages of a team. Texts and queries are folded in the same way, so that both engines
//! find the same words: letters and digits in lower case, without diacritics; the database only stems them.

use harvestman_core::ids::TeamId;
use harvestman_core::search::{Candidate, PageText, Query, Window};

use crate::cache::{Search, UnindexedPage};
use crate::error::StoreError;
use crate::postgres::Postgres;
use crate::postgres::query::query;
use crate::postgres::rows::{Columns, bad_column};
use crate::postgres::words::fold;
use crate::rows::candidate;
use crate::value::params;

/// The weights are those of D (host and body), C (description), B (path and headings) and A (title).
const SEARCH: &str = "SELECT id, url, title, description, content_type, fetched_at,
        ts_rank_cd('{0.125, 0.25, 0.375, 1.0}', words, to_tsquery('harvestman.words', $2), 1)::float8 AS fit,
        words @@ to_tsquery('harvestman.words', $3) AS complete
    FROM harvestman.cached_page
    WHERE team_id = $1 AND fetched_at >= $7 AND fetched_at < $8
        AND words @@ to_tsquery('harvestman.words', $2)
        AND ($4 = '' OR words @@ to_tsquery('harvestman.words', $4))
        AND ($5 = '' OR host_words || path_words @@ to_tsquery('harvestman.words', $5))
        AND NOT EXISTS (SELECT 1 FROM unnest($6) AS hosts (any_of)
            WHERE any_of <> '' AND NOT host_words @@ to_tsquery('harvestman.words', any_of))
    ORDER BY fit DESC LIMIT $9";

/// Like [`SEARCH`], for a query without words to rank by.
const SEARCH_WITHOUT_WORDS: &str =
    "SELECT id, url, title, description, content_type, fetched_at, 0::float8 AS fit,
        true AS complete
    FROM harvestman.cached_page
    WHERE team_id = $1 AND words IS NOT NULL AND fetched_at >= $5 AND fetched_at < $6
        AND ($2 = '' OR words @@ to_tsquery('harvestman.words', $2))
        AND ($3 = '' OR host_words || path_words @@ to_tsquery('harvestman.words', $3))
        AND NOT EXISTS (SELECT 1 FROM unnest($4) AS hosts (any_of)
            WHERE any_of <> '' AND NOT host_words @@ to_tsquery('harvestman.words', any_of))
    ORDER BY fetched_at DESC LIMIT $7";

impl Search for Postgres {
    async fn search_pages(
        &self,
        team: TeamId,
        query_: &Query,
        hosts: &[&str],
        window: &Window,
        limit: u32,
    ) -> Result<Vec<Candidate>, StoreError> {
        if query_.is_empty() && query_.sites.is_empty() && hosts.is_empty() {
            return Ok(Vec::new());
        }
        let some = operands(&query_.words, " | ", "");
        let all = operands(&query_.words, " & ", "");
        // Conditions on the text that must hold whatever words are found.
        let mut parts: Vec<String> = vec![
            operands(&query_.phrases, " & ", ""),
            operands(&query_.in_title, " & ", "A"),
        ];
        parts.extend(
            query_
                .without
                .iter()
                .filter_map(|word| operand(word, ""))
                .map(|word| format!("!({word})")),
        );
        parts.retain(|part| !part.is_empty());
        let required = parts.join(" & ");
        let in_url = operands(&query_.in_url, " & ", "");
        let any_of = |hosts: Vec<String>| operands(&hosts, " | ", "");
        let sites = vec![
            any_of(query_.sites.clone()),
            any_of(hosts.iter().map(|host| (*host).to_owned()).collect()),
        ];
        let (from, until) = (
            window.from.map_or(0, |from| from.0),
            window.until.map_or(u64::MAX, |until| until.0),
        );
        let statement = match some.is_empty() {
            true => query(SEARCH_WITHOUT_WORDS).bind(team),
            false => query(SEARCH).bind_all(params![team, some, all]),
        };
        let rows = statement
            .bind(required)
            .bind(in_url)
            .bind(sites)
            .bind(from)
            .bind(until)
            .bind(limit)
            .fetch_all(&self.pool.connection().await?)
            .await?;
        let found = rows.iter().map(|row| {
            let id = row.try_get("id").map_err(|_| bad_column("id"))?;
            let score = row.try_get("fit").map_err(|_| bad_column("fit"))?;
            candidate(row, id, score, row.flag("complete")?)
        });
        found.collect()
    }

    /// Returns no pages: a response is written together with its words.
    async fn unindexed_pages(&self, _limit: u32) -> Result<Vec<UnindexedPage>, StoreError> {
        Ok(Vec::new())
    }

    async fn index_page(&self, _id: i64, _team: TeamId, _text: PageText) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Joins phrases into a query; empty if there is no word. With a weight, only words of that weight match.
fn operands(phrases: &[String], between: &str, weight: &str) -> String {
    let phrases: Vec<String> = phrases
        .iter()
        .filter_map(|phrase| operand(phrase, weight))
        .collect();
    match phrases.is_empty() {
        true => String::new(),
        false => format!("({})", phrases.join(between)),
    }
}

/// Returns a query that finds the words of a phrase one after another; `None` if the phrase has no word. Folded words
/// contain no characters that act as operators.
fn operand(phrase: &str, weight: &str) -> Option<String> {
    let folded = fold(phrase);
    let suffix = if weight.is_empty() {
        String::new()
    } else {
        format!(":{weight}")
    };
    let words: Vec<String> = folded
        .split_whitespace()
        .map(|word| format!("{word}{suffix}"))
        .collect();
    (!words.is_empty()).then(|| format!("({})", words.join(" <-> ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn queries_have_only_our_operators() {
        assert_eq!(fold("Süße Ä-Pfel,  (&|!:*) O'Neil"), "suße a pfel o neil");
        assert_eq!(operand("a' | 'b", ""), Some("(a <-> b)".to_owned()));
        assert_eq!(operands(&["(((".to_owned()], " & ", ""), "");
        let words = ["Rust lang".to_owned(), "x".to_owned()];
        assert_eq!(operands(&words, " | ", "A"), "((rust:A <-> lang:A) | (x:A))");
        assert!(fold(&"word ".repeat(1 << 20)).len() <= limits::INDEXED_TEXT_BYTES + 4);
    }
}
