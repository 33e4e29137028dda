//! Writes the tables of an embedded database into an empty one.

use futures_util::StreamExt;
use uuid::Uuid;

use crate::cell::{Cell, TABLES};
use crate::error::StoreError;
use crate::limits;
use crate::postgres::Postgres;
use crate::postgres::client::Client;
use crate::postgres::nodes::is_served;
use crate::postgres::query::query;
use crate::postgres::rows::{Columns, bad_column};
use crate::postgres::transaction::Transaction;
use crate::sqlite::Sqlite;
use crate::value::Value;

/// A column that both databases have.
struct Column {
    name: String,
    kind: Kind,
    nullable: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Int,
    Text,
    Bool,
    Id,
    Bytes,
}

impl Postgres {
    /// Copies all tables in one transaction. Returns the number of rows of each.
    pub(crate) async fn import(&self, source: &Sqlite) -> Result<Vec<(&'static str, u64)>, StoreError> {
        let transaction = Transaction::on(&self.pool).await?;
        let outcome = import(&transaction, source).await;
        transaction.finish(outcome).await
    }
}

async fn import(transaction: &Transaction, source: &Sqlite) -> Result<Vec<(&'static str, u64)>, StoreError> {
    transaction.batch_execute("BEGIN").await?;
    let found = query("SELECT EXISTS (SELECT 1 FROM harvestman.team) AS used")
        .fetch_one(transaction)
        .await?;
    if is_served(transaction).await? {
        return Err(StoreError::Setup(
            "a server uses the PostgreSQL database: stop it, and start it after the copy".to_owned(),
        ));
    }
    if found.flag("used")? {
        return Err(StoreError::Setup(
            "the PostgreSQL database already has data: use an empty one".to_owned(),
        ));
    }
    let mut copied = Vec::with_capacity(TABLES.len());
    for table in TABLES {
        copied.push((*table, import_table(transaction, source, table).await?));
    }
    Ok(copied)
}

async fn import_table(client: &Client, source: &Sqlite, table: &'static str) -> Result<u64, StoreError> {
    let columns = common_columns(client, &source.columns(table).await?, table).await?;
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let parameters: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
    let list = names.join(", ");
    let sql = format!(
        "INSERT INTO harvestman.{table} ({list}) SELECT {list} FROM unnest({}) AS new ({list})",
        parameters.join(", ")
    );
    let mut rows = source.rows(table, &names);
    let (mut block, mut bytes, mut count) = (Vec::new(), 0, 0);
    loop {
        let row = rows.next().await.transpose()?;
        let ended = row.is_none();
        if let Some(row) = row {
            bytes += row.iter().map(Cell::size_bytes).sum::<usize>();
            block.push(row);
        }
        let is_full = block.len() >= limits::COPIED_ROWS || bytes >= limits::COPIED_BYTES;
        if !block.is_empty() && (is_full || ended) {
            count += block.len() as u64;
            let mut insert = query(sql.clone());
            for (index, column) in columns.iter().enumerate() {
                let cells = block
                    .iter_mut()
                    .map(|row| std::mem::replace(&mut row[index], Cell::Null));
                insert = insert.bind(column.values(cells)?);
            }
            insert.execute(client).await?;
            block.clear();
            bytes = 0;
        }
        if ended {
            return Ok(count);
        }
    }
}

/// Returns the columns of a table that the source has too. The others keep their defaults.
async fn common_columns(client: &Client, source: &[String], table: &str) -> Result<Vec<Column>, StoreError> {
    let rows = query(
        "SELECT column_name::text AS name, data_type::text AS kind, is_nullable = 'YES' AS nullable
         FROM information_schema.columns WHERE table_schema = 'harvestman' AND table_name = $1
            AND is_generated = 'NEVER' AND is_identity = 'NO' ORDER BY ordinal_position",
    )
    .bind(table)
    .fetch_all(client)
    .await?;
    let mut columns = Vec::new();
    for row in rows {
        let name = row.text("name")?;
        if !source.contains(&name) {
            continue;
        }
        let kind = match row.text("kind")?.as_str() {
            "bigint" => Kind::Int,
            "text" => Kind::Text,
            "boolean" => Kind::Bool,
            "uuid" => Kind::Id,
            "bytea" => Kind::Bytes,
            _ => return Err(bad_column(&name)),
        };
        columns.push(Column {
            name,
            kind,
            nullable: row.flag("nullable")?,
        });
    }
    Ok(columns)
}

impl Column {
    fn values(&self, cells: impl Iterator<Item = Cell>) -> Result<Value, StoreError> {
        let bad = || bad_column(&self.name);
        Ok(match self.kind {
            Kind::Int => Value::Ints(
                cells
                    .map(|cell| cell.int().ok_or_else(bad))
                    .collect::<Result<_, _>>()?,
            ),
            Kind::Bool => Value::Bools(
                cells
                    .map(|cell| Ok(cell.int().flatten().ok_or_else(bad)? != 0))
                    .collect::<Result<_, StoreError>>()?,
            ),
            Kind::Text => Value::Texts(
                cells
                    .map(|cell| match cell {
                        Cell::Null => Ok(None),
                        Cell::Text(text) => Ok(Some(text)),
                        Cell::Int(_) | Cell::Bytes(_) => Err(bad()),
                    })
                    .collect::<Result<_, _>>()?,
            ),
            Kind::Bytes => Value::ByteStrings(
                cells
                    .map(|cell| cell.bytes().ok_or_else(bad))
                    .collect::<Result<_, _>>()?,
            ),
            Kind::Id => Value::Ids(
                cells
                    .map(|cell| self.id(cell).ok_or_else(bad))
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    /// Where the column cannot be NULL, an empty value means that there is no id.
    fn id(&self, cell: Cell) -> Option<Option<Uuid>> {
        match cell.bytes()? {
            None => Some(None),
            Some(bytes) if bytes.is_empty() => Some((!self.nullable).then(Uuid::nil)),
            Some(bytes) => Uuid::from_slice(&bytes).ok().map(Some),
        }
    }
}

impl Cell {
    fn int(self) -> Option<Option<i64>> {
        match self {
            Self::Null => Some(None),
            Self::Int(number) => Some(Some(number)),
            Self::Text(_) | Self::Bytes(_) => None,
        }
    }

    fn bytes(self) -> Option<Option<Vec<u8>>> {
        match self {
            Self::Null => Some(None),
            Self::Bytes(bytes) => Some(Some(bytes)),
            // A column without a declared type may hold text.
            Self::Text(text) => Some(Some(text.into_bytes())),
            Self::Int(_) => None,
        }
    }
}
