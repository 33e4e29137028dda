//! Feedback on results: one entry for each request.

use crate::error::StoreError;
use crate::feedback::{FeedbackList, FeedbackOutcome, FeedbackRow, NewFeedback};
use crate::rows::feedback_row;
use crate::sqlite::Sqlite;
use crate::sqlite::query::query;
use crate::sqlite::rows::Columns;
use crate::value::params;

impl FeedbackList for Sqlite {
    async fn add_feedback(&self, feedback: &NewFeedback) -> Result<FeedbackOutcome, StoreError> {
        let new = feedback.clone();
        self.write(move |connection| {
            Box::pin(async move {
                let known = query("SELECT id FROM feedback WHERE team_id = ?1 AND job_id = ?2")
                    .bind_all(params![new.team, new.job])
                    .fetch_optional(&mut *connection)
                    .await?;
                if let Some(row) = known {
                    return Ok(FeedbackOutcome::Repeated(row.id("id")?));
                }
                let stored = query(
                    "INSERT INTO feedback (id, team_id, job_id, endpoint, rating, body, created_at)
                     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
                     WHERE EXISTS (SELECT 1 FROM activity WHERE job_id = ?3 AND team_id = ?2)",
                )
                .bind_all(params![
                    new.id, new.team, new.job, new.endpoint, new.rating, new.body, new.at,
                ])
                .execute(connection)
                .await?;
                Ok(match stored {
                    1 => FeedbackOutcome::Stored,
                    _ => FeedbackOutcome::UnknownJob,
                })
            })
        })
        .await
    }

    async fn feedback(&self, limit: u32) -> Result<Vec<FeedbackRow>, StoreError> {
        query(
            "SELECT feedback.*, team.name AS team_name FROM feedback JOIN team ON team.id = team_id
             ORDER BY feedback.created_at DESC, feedback.id DESC LIMIT ?1",
        )
        .bind(limit)
        .read_all(&self.readers, feedback_row)
        .await
    }
}
