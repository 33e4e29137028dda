//! Full-text search over the cached pages of a team. A page is indexed for exactly as long as it is cached, and only
//! its own team finds it.

use std::collections::HashSet;
use std::fmt::Write;

use sqlx::{Row, query_scalar};

use harvestman_core::ids::TeamId;
use harvestman_core::search::{Candidate, PageText, Query, Window};

use crate::cache::{Search, UnindexedPage};
use crate::error::StoreError;
use crate::rows::{candidate, decompress_page};
use crate::sql::transact;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::sqlite::{Sqlite, index};
use crate::value::params;

/// The numbers of `bm25` are the weights of the columns team, host, path, title, description, headings and
/// body. CROSS JOIN: SQLite reads the index once, rather than once per page of the team.
const SEARCH: &str =
    "SELECT cached_page.id, url, cached_page.title, cached_page.description, content_type, fetched_at,
        -bm25(page_text, 0, 1, 3, 8, 2, 3, 1) AS fit
     FROM page_text CROSS JOIN cached_page ON cached_page.id = page_text.rowid
     WHERE page_text MATCH ?1 AND team_id = ?2 AND fetched_at >= ?3 AND fetched_at < ?4
     ORDER BY fit DESC LIMIT ?5";

impl Search for Sqlite {
    async fn search_pages(
        &self,
        team: TeamId,
        wanted: &Query,
        hosts: &[&str],
        window: &Window,
        limit: u32,
    ) -> Result<Vec<Candidate>, StoreError> {
        let Some(any_word) = expression(team, wanted, hosts, " OR ") else {
            return Ok(Vec::new());
        };
        self.index.flush(&self.writer).await;
        let (from, until) = (
            window.from.map_or(0, |from| from.0),
            window.until.map_or(u64::MAX, |until| until.0),
        );
        let rows = query(SEARCH)
            .bind_all(params![&any_word, team, from, until, limit])
            .fetch_all(&self.readers)
            .await?;
        let all_words = expression(team, wanted, hosts, " AND ").filter(|all_words| *all_words != any_word);
        let complete: Option<HashSet<i64>> = match all_words {
            None => None,
            Some(all_words) => {
                let ids = query_scalar("SELECT rowid FROM page_text WHERE page_text MATCH ?1")
                    .bind(all_words)
                    .fetch_all(&self.readers)
                    .await?;
                Some(ids.into_iter().collect())
            }
        };
        let found = rows.iter().map(|row| {
            let id: i64 = row.try_get("id")?;
            let has_all = complete.as_ref().is_none_or(|complete| complete.contains(&id));
            candidate(row, id, row.try_get("fit")?, has_all)
        });
        found.collect()
    }

    async fn unindexed_pages(&self, limit: u32) -> Result<Vec<UnindexedPage>, StoreError> {
        let rows = query(
            "SELECT cached_page.id, team_id, url, status_code, content_type, fetched_at, size_bytes, zstd
             FROM page_text_waiting CROSS JOIN cached_page USING (id) WHERE hash = ?1 LIMIT ?2",
        )
        .bind_all(params![index::LOST, limit])
        .fetch_all(&self.readers)
        .await?;
        let mut pages = Vec::with_capacity(rows.len());
        for row in rows {
            pages.push(UnindexedPage {
                id: row.try_get("id")?,
                team: TeamId(row.id("team_id")?),
                page: decompress_page(&row).await?,
            });
        }
        Ok(pages)
    }

    async fn index_page(&self, id: i64, team: TeamId, text: PageText) -> Result<(), StoreError> {
        transact!(self, |connection| {
            index::write_lost(connection, id, team, text).await
        })
    }
}

/// Builds the query in FTS5 syntax; `None` when there is nothing to search for. Words from the caller are
/// quoted, so that they cannot act as operators.
fn expression(team: TeamId, query: &Query, hosts: &[&str], between: &str) -> Option<String> {
    if query.is_empty() && query.sites.is_empty() && hosts.is_empty() {
        return None;
    }
    let all = |words: &[String], column: &str, between: &str| {
        let words = words.iter().map(|word| format!("{column}{}", quote(word)));
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| format!("({})", words.join(between)))
    };
    let site = |host: &&str| format!("host : {}", quote(host));
    let sites: Vec<&str> = query.sites.iter().map(String::as_str).collect();
    let any_site = |hosts: &[&str]| {
        let hosts: Vec<String> = hosts.iter().map(site).collect();
        (!hosts.is_empty()).then(|| format!("({})", hosts.join(" OR ")))
    };
    let text = "{host path title description headings body} : ";
    let parts = [
        all(&query.words, text, between),
        all(&query.phrases, text, " AND "),
        all(&query.in_title, "title : ", " AND "),
        all(&query.in_url, "{host path} : ", " AND "),
        any_site(&sites),
        any_site(hosts),
    ];
    let mut expression = format!("team : {}", quote(&index::team_word(team)));
    for part in parts.into_iter().flatten() {
        // Writing to a `String` never fails.
        let _ = write!(expression, " AND {part}");
    }
    if let Some(without) = all(&query.without, text, " OR ") {
        expression = format!("({expression}) NOT {without}");
    }
    Some(expression)
}

fn quote(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\"").replace('\0', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::test_database;

    #[tokio::test]
    async fn a_search_reads_the_index_first() {
        let plan = test_database::plan(&mut test_database::empty().await, SEARCH).await;
        assert!(plan[0].starts_with("SCAN page_text "), "{plan:?}");
    }
}
