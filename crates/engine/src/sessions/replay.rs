//! Reads the request of a stored scrape, so that it can be repeated.

use harvestman_core::api::batch::BatchOptions;
use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::scrape::ScrapeRequest;
use harvestman_core::interact::SessionError;
use harvestman_core::scope::has_origin_of;
use harvestman_core::time::Timestamp;
use harvestman_store::{JobKind, OriginState, ScrapeOrigin, discarded_parts};
use url::Url;

use crate::error::internal_error;

/// A scrape to repeat.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    pub(crate) url: Url,
    /// URL to try if `url` cannot be opened, for a URL given without a scheme.
    pub(crate) fallback: Option<Url>,
    pub(crate) options: ScrapeOptions,
}

impl Replay {
    /// Reads a scrape of the caller's team.
    ///
    /// # Errors
    /// 409 if it cannot be repeated.
    pub(crate) fn of(origin: &ScrapeOrigin, now: Timestamp) -> Result<Replay, ApiError> {
        if origin.zero_data_retention {
            return Err(SessionError::zero_data_retention().into());
        }
        if origin.expires_at.is_some_and(|at| at <= now) {
            return Err(SessionError::expired().into());
        }
        match origin.state {
            OriginState::Running => return Err(SessionError::running().into()),
            OriginState::Failed => return Err(SessionError::failed_page().into()),
            OriginState::Ended => {}
        }
        let url = Url::parse(&origin.url).map_err(internal_error)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(SessionError::upload().into());
        }
        if discarded_parts(&origin.request)
            .iter()
            .any(|part| *part != "webhook")
        {
            return Err(SessionError::discarded().into());
        }
        let request = origin.request.as_bytes();
        let (fallback, options) = match origin.kind {
            JobKind::Scrape => {
                let request = ScrapeRequest::from_json(request).map_err(internal_error)?;
                (request.url.http_fallback(), request.options)
            }
            JobKind::Crawl => {
                let request = CrawlRequest::from_json(request).map_err(internal_error)?;
                let options = request.scrape_options;
                let public = options.without_private_headers();
                let public = public.filter(|_| !has_origin_of(&url, &request.url.url));
                (None, public.unwrap_or(options))
            }
            JobKind::BatchScrape => {
                let request = BatchOptions::from_json(request).map_err(internal_error)?;
                (None, request.options)
            }
            JobKind::Parse
            | JobKind::Map
            | JobKind::Search
            | JobKind::Extract
            | JobKind::Agent
            | JobKind::Interact
            | JobKind::Browser
            | JobKind::Monitor => return Err(SessionError::no_page().into()),
        };
        Ok(Replay {
            url,
            fallback,
            options,
        })
    }
}

#[cfg(test)]
mod tests {
    use harvestman_core::ids::TeamId;
    use harvestman_store::new_id;

    use super::*;

    fn origin(kind: JobKind, url: &str, request: &str) -> ScrapeOrigin {
        ScrapeOrigin {
            team: TeamId(new_id()),
            kind,
            url: url.to_owned(),
            request: request.to_owned(),
            zero_data_retention: false,
            expires_at: Some(Timestamp(10)),
            state: OriginState::Ended,
        }
    }

    #[test]
    fn a_page_is_repeated_with_the_options_of_its_job() {
        let scrape = r#"{"url":"site.test/a","waitFor":7,"headers":{"x":"1"}}"#;
        let replay = Replay::of(
            &origin(JobKind::Scrape, "https://site.test/a", scrape),
            Timestamp(9),
        )
        .unwrap();
        assert_eq!(replay.url.as_str(), "https://site.test/a");
        assert_eq!(replay.fallback.unwrap().as_str(), "http://site.test/a");
        assert_eq!((replay.options.wait_for, replay.options.headers.len()), (7, 1));

        let crawl = r#"{"url":"https://site.test/","scrapeOptions":{"mobile":true}}"#;
        let replay = Replay::of(
            &origin(JobKind::Crawl, "https://site.test/b", crawl),
            Timestamp(9),
        )
        .unwrap();
        assert_eq!((replay.url.path(), replay.options.mobile), ("/b", true));
    }

    #[test]
    fn private_headers_of_a_crawl_are_repeated_on_its_own_origin_only() {
        let crawl = r#"{"url":"https://site.test/","scrapeOptions":{"headers":{"Cookie":"a=b","x":"1"}}}"#;
        for (url, names) in [
            ("https://site.test/b", &["Cookie", "x"][..]),
            ("https://www.site.test/b", &["x"][..]),
        ] {
            let replay = Replay::of(&origin(JobKind::Crawl, url, crawl), Timestamp(9)).unwrap();
            assert_eq!(replay.options.headers.keys().collect::<Vec<_>>(), names, "{url}");
        }
    }

    #[test]
    fn a_scrape_that_is_not_stored_cannot_be_repeated() {
        let page = origin(
            JobKind::Scrape,
            "https://site.test/",
            r#"{"url":"https://site.test/"}"#,
        );
        let refused = |origin: ScrapeOrigin, now| {
            let error = Replay::of(&origin, Timestamp(now)).unwrap_err();
            assert_eq!(error.code.as_str(), "REPLAY_UNAVAILABLE");
            error.message
        };
        assert!(refused(page.clone(), 10).contains("expired"));
        let discreet = ScrapeOrigin {
            zero_data_retention: true,
            ..page.clone()
        };
        assert!(refused(discreet, 9).contains("zero data retention"));
        let upload = ScrapeOrigin {
            url: "upload:file.pdf".to_owned(),
            ..page.clone()
        };
        assert!(refused(upload, 9).contains("uploaded file"));
        let incomplete = ScrapeOrigin {
            request: r#"{"url":"https://site.test/","headers":null}"#.to_owned(),
            ..page.clone()
        };
        assert!(refused(incomplete, 9).contains("is lost"));
        let running = ScrapeOrigin {
            state: OriginState::Running,
            expires_at: None,
            ..page.clone()
        };
        assert!(refused(running, 9).contains("still running"));
        let failed = ScrapeOrigin {
            state: OriginState::Failed,
            ..page
        };
        assert!(refused(failed, 9).contains("could not be fetched"));
    }
}
