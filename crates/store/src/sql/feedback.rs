//! Feedback on results: one entry for each request.

use crate::columns::Columns;
use crate::error::StoreError;
use crate::feedback::{FeedbackList, FeedbackOutcome, FeedbackRow, NewFeedback};
use crate::rows::feedback_row;
use crate::sql::{Database, statement, transact};
use crate::value::params;

impl<D: Database> FeedbackList for D {
    async fn add_feedback(&self, feedback: &NewFeedback) -> Result<FeedbackOutcome, StoreError> {
        let new = feedback.clone();
        transact!(self, new.at, |transaction, now| {
            let stored = statement!(
                "INSERT INTO harvestman.feedback (id, team_id, job_id, endpoint, rating, body, created_at)
                 SELECT $1, $2, $3, $4, $5, $6, $7
                 WHERE EXISTS (SELECT 1 FROM harvestman.activity WHERE job_id = $3 AND team_id = $2)
                 ON CONFLICT (team_id, job_id) DO NOTHING",
            )
            .bind_all(params![
                new.id, new.team, new.job, new.endpoint, new.rating, new.body, now
            ])
            .execute(transaction)
            .await?;
            if stored == 1 {
                return Ok(FeedbackOutcome::Stored);
            }
            let known = statement!("SELECT id FROM harvestman.feedback WHERE team_id = $1 AND job_id = $2")
                .bind_all(params![new.team, new.job])
                .fetch_optional(transaction)
                .await?;
            Ok(match known {
                Some(row) => FeedbackOutcome::Repeated(row.id("id")?),
                None => FeedbackOutcome::UnknownJob,
            })
        })
    }

    async fn feedback(&self, limit: u32) -> Result<Vec<FeedbackRow>, StoreError> {
        statement!(
            "SELECT feedback.*, team.name AS team_name FROM harvestman.feedback
             JOIN harvestman.team ON team.id = team_id
             ORDER BY feedback.created_at DESC, feedback.id DESC LIMIT $1",
        )
        .bind(limit)
        .read_all(&mut self.reader().await?, feedback_row)
        .await
    }
}
