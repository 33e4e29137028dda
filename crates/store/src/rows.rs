//! Builds the types of the store from rows. A column has the same name in both engines, so that a row of either one is
//! read here, and an engine holds only its statements.

mod activity;
mod jobs;
mod monitors;
mod pages;
mod runs;
mod sessions;
mod teams;
mod uploads;
mod webhooks;

pub(crate) use activity::{CallReader, activity, running_jobs, team_queue};
pub(crate) use jobs::{
    admitted_url, begun_pages, due_work, job_error, job_row, job_signal, lease, parse_kind, parse_progress,
    parse_status, readable_job, snapshot, sum_of_paces,
};
pub(crate) use monitors::{
    check_event, check_lease, check_row, check_summary, due_monitor, fetching_jobs, missing_url, monitor_row,
    page_chunk, target_page,
};
pub(crate) use pages::{
    candidate, decompress_page, decompress_texts, known_page, linking_pages, page_version,
};
pub(crate) use runs::{failed_page, next_place_of, origin, origin_of_page, result_of_scrape, run_row};
pub(crate) use sessions::{session_file_row, session_row};
pub(crate) use teams::{day_usage, feedback_row, key_row, month_usage, team_row};
pub(crate) use uploads::upload_state;
pub(crate) use webhooks::{attempt, delivery, due_event, leased_receiver, subject_of_job, subject_of_page};
