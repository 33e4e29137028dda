//! The story: one script of what every engine must do. Each chapter takes an open store and leaves it usable
//! for the next.

mod chapters_of_batches;
pub(crate) mod chapters_of_cache;
mod chapters_of_crawls;
mod chapters_of_events;
mod chapters_of_files;
mod chapters_of_owners;
mod chapters_of_reading;
mod chapters_of_retention;
mod chapters_of_runs;
mod chapters_of_search;
pub(crate) mod chapters_of_sessions;
mod chapters_of_teams;
mod chapters_of_versions;

use harvestman_store::Store;

use crate::fixtures::Place;

async fn tell(store: &Store) {
    chapters_of_teams::a_key_is_found_by_its_hash(store).await;
    chapters_of_teams::a_revoked_key_opens_nothing(store).await;
    chapters_of_teams::a_team_has_a_plan_and_a_secret_of_its_own(store).await;
    chapters_of_teams::usage_is_added_up_by_month_and_key(store).await;
    chapters_of_teams::activity_is_read_newest_first_in_pages(store).await;
    chapters_of_teams::activity_has_neither_gap_nor_repeat_while_more_comes(store).await;
    chapters_of_teams::a_queue_is_what_is_not_settled(store).await;
    chapters_of_teams::a_call_without_a_job_leaves_its_price_and_activity(store).await;
    chapters_of_crawls::a_job_is_made_once_per_idempotency_key(store).await;
    chapters_of_crawls::a_refused_job_leaves_nothing(store).await;
    chapters_of_crawls::a_crawl_runs_from_lease_to_end(store).await;
    chapters_of_crawls::never_more_places_than_the_limit(store).await;
    chapters_of_crawls::a_place_given_back_goes_to_the_next_offer(store).await;
    chapters_of_crawls::a_known_url_is_never_admitted(store).await;
    chapters_of_crawls::an_end_is_refused_while_urls_are_open(store).await;
    chapters_of_crawls::a_page_of_a_url_that_is_not_open_is_ignored(store).await;
    chapters_of_owners::a_repeated_batch_changes_nothing(store).await;
    chapters_of_owners::a_former_owner_changes_nothing(store).await;
    chapters_of_owners::a_new_owner_loads_everything(store).await;
    chapters_of_owners::a_cancelled_job_takes_nothing_more(store).await;
    chapters_of_crawls::the_frontier_is_bounded(store).await;
    chapters_of_crawls::a_failed_crawl_says_why(store).await;
    chapters_of_batches::given_pages_are_stored_with_their_batch(store).await;
    chapters_of_batches::pages_are_added_to_a_running_batch(store).await;
    chapters_of_batches::an_ended_batch_that_gets_pages_runs_again(store).await;
    chapters_of_batches::only_a_batch_that_lives_takes_pages(store).await;
    chapters_of_reading::documents_are_cut_by_bytes(store).await;
    chapters_of_reading::a_page_is_found_where_it_was_offered_first(store).await;
    chapters_of_reading::errors_are_listed_in_order(store).await;
    chapters_of_reading::running_crawls_are_listed_newest_first(store).await;
    chapters_of_reading::recent_jobs_are_listed_newest_first(store).await;
    chapters_of_reading::a_job_is_its_teams_alone(store).await;
    chapters_of_reading::a_scrape_ends_once(store).await;
    chapters_of_reading::a_page_of_a_crawl_is_read_by_its_scrape_id(store).await;
    chapters_of_reading::without_retention_nothing_is_kept(store).await;
    chapters_of_versions::the_last_version_of_a_page_is_kept_per_team_and_tag(store).await;
    chapters_of_files::a_file_is_read_by_its_token_until_it_expires(store).await;
    chapters_of_sessions::a_session_ends_once_and_is_charged_once(store).await;
    chapters_of_sessions::a_session_never_outlives_its_time(store).await;
    chapters_of_sessions::the_use_of_a_session_is_noted(store).await;
    chapters_of_sessions::a_session_continues_one_scrape_at_most(store).await;
    chapters_of_sessions::a_scrape_is_known_by_where_it_came_from(store).await;
    chapters_of_sessions::a_profile_is_the_last_that_was_kept(store).await;
    chapters_of_events::events_are_owed_in_order(store).await;
    chapters_of_events::an_attempt_is_retried_or_given_up(store).await;
    chapters_of_events::only_subscribed_events_are_owed(store).await;
    chapters_of_events::receivers_take_turns(store).await;
    chapters_of_runs::a_run_ends_once_with_its_result_and_price(store).await;
    chapters_of_runs::agents_are_listed_and_cancelled(store).await;
    chapters_of_retention::documents_go_once_they_are_told(store).await;
    chapters_of_retention::a_receiver_gets_what_a_reader_had_before(store).await;
    chapters_of_retention::addresses_and_errors_go_with_the_last_document(store).await;
    chapters_of_reading::expired_jobs_go_and_their_ledger_stays(store).await;
    chapters_of_cache::the_newest_answer_is_kept_per_team(store).await;
    chapters_of_cache::pages_are_known_by_their_site(store).await;
    chapters_of_search::kept_pages_are_found_by_their_team(store).await;
    chapters_of_search::what_is_asked_is_never_an_operator(store).await;
    chapters_of_versions::versions_outlive_their_jobs_but_not_without_retention(store).await;
    chapters_of_sessions::sessions_are_listed_newest_first_for_a_day(store).await;
    chapters_of_search::found_pages_go_with_their_copies(store).await;
    chapters_of_cache::copies_go_when_nobody_may_get_them(store).await;
}

#[tokio::test]
async fn the_story_on_sqlite() {
    let place = Place::new("story");
    let store = place.open().await;
    tell(&store).await;
    store.close().await.unwrap();
}
