//! Persistence: durable jobs on SQLite.
