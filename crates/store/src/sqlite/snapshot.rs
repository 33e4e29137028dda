//! A transaction that only reads.

use harvestman_core::ids::JobId;
use harvestman_core::url_key::UrlKey;

use crate::error::StoreError;
use crate::limits;
use crate::sql::Snapshot;
use crate::sqlite::query::query;
use crate::sqlite::rows::{Columns, bad_column};
use crate::value::params;

impl Snapshot for sqlx::Transaction<'static, sqlx::Sqlite> {
    /// Reads the keys as concatenated text.
    async fn read_keys(&mut self, job: JobId) -> Result<Vec<UrlKey>, StoreError> {
        let (mut all, mut after) = (Vec::new(), Vec::new());
        loop {
            let row = query(
                "SELECT group_concat(hex(url_key), '') AS keys, max(url_key) AS last
                 FROM (SELECT url_key FROM job_url WHERE job_id = ?1 AND url_key > ?2 ORDER BY url_key LIMIT ?3)",
            )
            .bind_all(params![job, after, limits::KEYS_PER_READ])
            .fetch_one(&mut **self)
            .await?;
            let Some(keys) = row.maybe_text("keys")? else {
                return Ok(all);
            };
            for key in keys.as_bytes().chunks(32) {
                let key = std::str::from_utf8(key)
                    .ok()
                    .and_then(|key| u128::from_str_radix(key, 16).ok());
                all.push(UrlKey(key.ok_or_else(|| bad_column("url_key"))?));
            }
            after = row.url_key("last")?.to_bytes().to_vec();
        }
    }

    async fn end(self) -> Result<(), StoreError> {
        Ok(self.commit().await?)
    }
}
