//! The story: one script of what every engine must do. Each chapter takes an open store and leaves it usable
//! for the next.

mod chapters_of_batches;
pub(crate) mod chapters_of_cache;
mod chapters_of_crawls;
pub(crate) mod chapters_of_events;
mod chapters_of_files;
mod chapters_of_monitors;
mod chapters_of_owners;
mod chapters_of_reading;
mod chapters_of_retention;
mod chapters_of_runs;
pub(crate) mod chapters_of_search;
pub(crate) mod chapters_of_sessions;
mod chapters_of_teams;
mod chapters_of_versions;

use harvestman_store::Store;

use crate::database_proxy::DatabaseProxy;
use crate::fixtures::{TestFolder, database_url};

async fn run_story(store: &Store) {
    chapters_of_teams::keys_are_looked_up_by_hash(store).await;
    chapters_of_teams::a_revoked_key_is_rejected(store).await;
    chapters_of_teams::teams_have_their_own_plan_and_webhook_secret(store).await;
    chapters_of_teams::usage_is_summed_by_month_and_key(store).await;
    chapters_of_teams::activity_is_paged_newest_first(store).await;
    chapters_of_teams::activity_pages_have_no_gaps_or_duplicates_while_it_grows(store).await;
    chapters_of_teams::the_queue_counts_pages_without_an_outcome(store).await;
    chapters_of_teams::a_request_without_a_job_is_charged_and_listed(store).await;
    chapters_of_crawls::an_idempotency_key_creates_one_job(store).await;
    chapters_of_crawls::a_job_that_fails_to_insert_stores_nothing(store).await;
    chapters_of_crawls::a_crawl_runs_from_lease_to_end(store).await;
    chapters_of_crawls::admission_never_exceeds_the_limit(store).await;
    chapters_of_crawls::a_dropped_page_is_replaced_by_the_next_spare(store).await;
    chapters_of_crawls::a_known_url_is_never_admitted(store).await;
    chapters_of_crawls::a_job_does_not_end_while_urls_are_open(store).await;
    chapters_of_crawls::a_page_of_a_url_that_is_not_open_is_ignored(store).await;
    chapters_of_owners::a_repeated_batch_changes_nothing(store).await;
    chapters_of_owners::a_former_owner_changes_nothing(store).await;
    chapters_of_owners::a_new_owner_loads_everything(store).await;
    chapters_of_owners::a_cancelled_job_does_not_change(store).await;
    chapters_of_crawls::the_frontier_is_bounded(store).await;
    chapters_of_crawls::the_first_spare_urls_of_an_ended_crawl_are_kept(store).await;
    chapters_of_crawls::a_crawl_is_continued_with_the_urls_that_it_left(store).await;
    chapters_of_crawls::a_crawl_whose_start_page_failed_is_continued_from_there(store).await;
    chapters_of_crawls::a_failed_crawl_stores_its_error(store).await;
    chapters_of_batches::batch_pages_are_stored_with_their_job(store).await;
    chapters_of_batches::pages_are_added_to_a_running_batch(store).await;
    chapters_of_batches::adding_pages_restarts_an_ended_batch(store).await;
    chapters_of_batches::pages_are_added_only_to_a_stored_uncancelled_batch(store).await;
    chapters_of_reading::document_chunks_are_limited_by_bytes(store).await;
    chapters_of_reading::found_on_is_the_page_of_the_first_offer(store).await;
    chapters_of_reading::errors_are_listed_in_order(store).await;
    chapters_of_reading::running_crawls_are_listed_newest_first(store).await;
    chapters_of_reading::recent_jobs_are_listed_newest_first(store).await;
    chapters_of_reading::a_job_is_visible_only_to_its_team(store).await;
    chapters_of_reading::a_scrape_ends_once(store).await;
    chapters_of_reading::a_page_of_a_crawl_is_read_by_its_scrape_id(store).await;
    chapters_of_reading::zero_retention_scrapes_store_no_document(store).await;
    chapters_of_versions::the_last_version_of_a_page_is_stored_per_team_and_tag(store).await;
    chapters_of_files::a_file_is_read_by_its_token_until_it_expires(store).await;
    chapters_of_files::an_upload_is_received_once_and_used_once_by_its_team(store).await;
    chapters_of_sessions::a_session_ends_once_and_is_charged_once(store).await;
    chapters_of_sessions::a_session_ends_no_later_than_it_expires(store).await;
    chapters_of_sessions::the_last_use_of_a_session_is_updated(store).await;
    chapters_of_sessions::a_session_continues_at_most_one_scrape(store).await;
    chapters_of_sessions::the_origin_of_a_scrape_is_returned(store).await;
    chapters_of_sessions::the_last_saved_profile_is_returned(store).await;
    chapters_of_events::events_are_delivered_in_order(store).await;
    chapters_of_events::events_do_not_wait_for_a_clock_that_was_set_back(store).await;
    chapters_of_events::an_attempt_is_retried_or_given_up(store).await;
    chapters_of_events::only_subscribed_events_are_stored(store).await;
    chapters_of_events::receivers_take_turns(store).await;
    chapters_of_runs::a_run_ends_once_with_its_result_and_price(store).await;
    chapters_of_runs::agents_are_listed_and_cancelled(store).await;
    chapters_of_runs::the_progress_of_a_run_is_kept_until_its_result(store).await;
    chapters_of_runs::a_thread_has_one_run_at_a_time(store).await;
    chapters_of_retention::documents_are_deleted_once_delivered(store).await;
    chapters_of_retention::a_document_is_kept_until_its_webhook_is_delivered(store).await;
    chapters_of_retention::urls_and_errors_are_deleted_after_the_last_document(store).await;
    chapters_of_monitors::monitors_are_limited_changed_and_listed_per_team(store).await;
    chapters_of_monitors::a_due_check_starts_and_ends_once(store).await;
    chapters_of_monitors::checks_do_not_wait_for_a_clock_that_was_set_back(store).await;
    chapters_of_monitors::a_check_knows_the_pages_that_are_missing(store).await;
    chapters_of_monitors::feedback_is_stored_once_per_request(store).await;
    chapters_of_reading::expired_jobs_are_deleted_but_not_their_ledger(store).await;
    chapters_of_cache::the_newest_response_is_cached_per_team(store).await;
    chapters_of_cache::a_response_that_the_database_refuses_takes_no_other_along(store).await;
    chapters_of_cache::known_pages_are_listed_by_site(store).await;
    chapters_of_search::cached_pages_are_searched_by_their_team_only(store).await;
    chapters_of_search::query_text_is_never_an_operator(store).await;
    chapters_of_versions::versions_outlive_their_jobs_except_with_zero_retention(store).await;
    chapters_of_sessions::sessions_are_listed_newest_first_for_a_day(store).await;
    chapters_of_sessions::files_are_deleted_with_their_session(store).await;
    chapters_of_search::expired_responses_are_not_found(store).await;
    chapters_of_cache::responses_expire_when_too_old_for_any_request(store).await;
}

#[tokio::test]
async fn the_story_on_sqlite() {
    let folder = TestFolder::new("story");
    let store = folder.open().await;
    run_story(&store).await;
    store.close().await.unwrap();
}

#[tokio::test]
async fn the_story_through_a_pooler_on_postgresql() {
    let folder = TestFolder::pooled("pooled-story", &database_url("postgres"));
    let store = folder.open().await;
    run_story(&store).await;
    store.close().await.unwrap();
}

#[tokio::test]
async fn the_story_on_postgresql() {
    let folder = TestFolder::postgres("story");
    let store = folder.open().await;
    run_story(&store).await;
    store.close().await.unwrap();
}

#[tokio::test]
async fn the_story_with_lost_answers_on_postgresql() {
    let folder = TestFolder::postgres("lossy-story");
    let proxy = DatabaseProxy::start(&database_url(folder.name())).await;
    let url = proxy.url(&database_url(folder.name()));
    let store = folder.try_open_at(&url).await.unwrap();
    proxy.lose_commits(3);
    run_story(&store).await;
    assert!(proxy.lost_commits() > 100, "{}", proxy.lost_commits());
    proxy.lose_commits(0);
    store.close().await.unwrap();
}
