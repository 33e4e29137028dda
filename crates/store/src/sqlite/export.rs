//! Reads whole tables, to copy them into another database.

use futures_util::stream::{BoxStream, StreamExt};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, TypeInfo, ValueRef, query};

use crate::cell::Cell;
use crate::error::StoreError;
use crate::sqlite::Sqlite;

impl Sqlite {
    /// Returns the names of the columns of a table; a page has its body as the column `zstd`.
    pub(crate) async fn columns(&self, table: &'static str) -> Result<Vec<String>, StoreError> {
        let rows = query("SELECT name FROM pragma_table_info(?1)")
            .bind(table)
            .fetch_all(&self.readers)
            .await?;
        let mut names = Vec::new();
        for row in rows {
            names.push(row.try_get::<String, _>("name")?);
        }
        if table == "page" {
            names.push("zstd".to_owned());
        }
        Ok(names)
    }

    /// Reads the rows of a table, as of one moment.
    pub(crate) fn rows<'a>(
        &'a self,
        table: &str,
        columns: &[String],
    ) -> BoxStream<'a, Result<Vec<Cell>, StoreError>> {
        let bodies = match table {
            "page" => " LEFT JOIN body ON body.id = body_id",
            _ => "",
        };
        let columns = columns.join(", ");
        // Names come from the schema, not from callers.
        let sql = format!("SELECT {columns} FROM {table}{bodies}");
        let rows = query(AssertSqlSafe(sql)).fetch(&self.readers);
        rows.map(|row| cells(&row?)).boxed()
    }
}

fn cells(row: &SqliteRow) -> Result<Vec<Cell>, StoreError> {
    let mut cells = Vec::with_capacity(row.len());
    for index in 0..row.len() {
        let value = row.try_get_raw(index)?;
        let kind = value.type_info().name().to_owned();
        cells.push(match kind.as_str() {
            _ if value.is_null() => Cell::Null,
            "INTEGER" | "BOOLEAN" => Cell::Int(row.try_get_unchecked(index)?),
            "TEXT" => Cell::Text(row.try_get_unchecked(index)?),
            _ => Cell::Bytes(row.try_get_unchecked(index)?),
        });
    }
    Ok(cells)
}
