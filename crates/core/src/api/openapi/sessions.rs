//! Operations of browser sessions, and the paths that are opened with a session's tokens.

use super::examples::{self, SESSION_ERRORS};
use super::operation::{Content, Operation, Tag, delete, get, post, public, tagged};
use crate::api::browser::{BrowserRequest, ExecuteRequest, ExtendRequest, SessionExtended, SessionStatus};
use crate::api::caller::Caller;
use crate::api::error::ErrorCode;
use crate::api::fields::FieldType;
use crate::api::interact::InteractRequest;
use crate::api::session_file::{FileOrigin, SessionFile, SessionFileAdded, SessionFileRequest, SessionFiles};

pub(super) fn operations() -> Vec<Operation> {
    tagged([(Tag::Sessions, sessions()), (Tag::Sessions, token_paths())])
}

fn sessions() -> Vec<Operation> {
    let mut operations = vec![
        post("/v2/scrape/{id}/interact", "interact")
            .summary("Run code or a prompt in the browser of a scraped page")
            .description("Needs exactly one of `code` and `prompt`. The first call opens the browser.")
            .body::<InteractRequest>(&["code"])
            .response("What the code or prompt did.", examples::executed())
            .errors(SESSION_ERRORS)
            .errors(&[
                ErrorCode::Conflict,
                ErrorCode::ReplayUnavailable,
                ErrorCode::SessionDestroyed,
                ErrorCode::AgentError,
            ]),
        delete("/v2/scrape/{id}/interact", "endInteract")
            .summary("End the browser session of a scrape")
            .response("The session has ended.", examples::session_ended())
            .errors(&[ErrorCode::Forbidden]),
    ];
    let families = [
        (
            [
                "/v2/browser", "/v2/browser/{id}/execute", "/v2/browser/{id}", "/v2/browser/{id}/extend",
                "/v2/browser/{id}/files",
            ],
            [
                "openBrowser", "listBrowsers", "executeInBrowser", "endBrowser", "extendBrowser",
                "listBrowserFiles", "addBrowserFile",
            ],
        ),
        (
            [
                "/v2/interact", "/v2/interact/{id}/execute", "/v2/interact/{id}", "/v2/interact/{id}/extend",
                "/v2/interact/{id}/files",
            ],
            [
                "openSession", "listSessions", "executeInSession", "endSession", "extendSession",
                "listSessionFiles", "addSessionFile",
            ],
        ),
    ];
    for (
        [sessions, execute, session, extend, files],
        [open, list, run, end, prolong, list_files, add_file],
    ) in families
    {
        operations.extend([
            post(sessions, open)
                .summary("Open a browser session")
                .body::<BrowserRequest>(&["ttl"])
                .response("The session is open.", examples::browser_created())
                .errors(SESSION_ERRORS),
            get(sessions, list)
                .summary("List browser sessions")
                .query(
                    "status",
                    "Only sessions in this state.",
                    &SessionStatus::schema(()),
                    None,
                )
                .response(
                    "The team's sessions of the last 24 hours, newest first.",
                    examples::browser_sessions(),
                ),
            post(execute, run)
                .summary("Run code in a browser session")
                .body::<ExecuteRequest>(&[])
                .response("What the code did.", examples::executed())
                .errors(SESSION_ERRORS)
                .errors(&[ErrorCode::SessionDestroyed]),
            delete(session, end)
                .summary("End a browser session")
                .response("The session has ended.", examples::session_ended())
                .errors(&[ErrorCode::Forbidden]),
            post(extend, prolong)
                .summary("Extend a browser session")
                .body::<ExtendRequest>(&["ttl"])
                .response(
                    "The session lives at least that long.",
                    SessionExtended {
                        success: true,
                        expires_at: examples::later(),
                    },
                )
                .errors(&[ErrorCode::Forbidden, ErrorCode::SessionDestroyed]),
            get(files, list_files)
                .summary("List the files of a browser session")
                .response(
                    "Files that its pages downloaded, and files that clients uploaded to it.",
                    SessionFiles {
                        success: true,
                        files: vec![file(FileOrigin::Download), file(FileOrigin::Upload)],
                    },
                )
                .errors(&[ErrorCode::Forbidden]),
            post(files, add_file)
                .summary("Upload a file to a browser session")
                .form::<Caller>()
                .or_body::<SessionFileRequest>()
                .response(
                    "The session has the file.",
                    SessionFileAdded {
                        success: true,
                        file: file(FileOrigin::Upload),
                    },
                )
                .errors(&[
                    ErrorCode::Forbidden,
                    ErrorCode::Conflict,
                    ErrorCode::ConcurrencyLimited,
                    ErrorCode::SessionDestroyed,
                ]),
        ]);
    }
    operations
}

fn file(origin: FileOrigin) -> SessionFile {
    let is_download = origin == FileOrigin::Download;
    SessionFile {
        origin,
        name: "report.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
        size_bytes: 48_213,
        url: Some("http://localhost:3002/files/9c0f1b7e7c3f4c0c8f0d6a4c7f3f2b11.report.pdf".to_owned()),
        path: (!is_download).then(|| "/tmp/files/report.pdf".to_owned()),
        source_url: is_download.then(|| "https://example.com/report.pdf".to_owned()),
        error: None,
        created_at: examples::later(),
    }
}

/// Returns the paths that a token opens in place of a key.
fn token_paths() -> Vec<Operation> {
    let json = |help| Content::Object(help);
    vec![
        public("/live/{token}", "getLiveView")
            .summary("Show the live view of a session")
            .description("A page for an iframe. The token replaces the key.")
            .content(200, "The page.", Content::Text("text/html"))
            .content(
                404,
                "A page that says that the session has ended.",
                Content::Text("text/html"),
            ),
        public("/live/sockets/{token}", "openLiveView")
            .summary("Open the socket of a live view")
            .socket("The socket of frames and input is open.")
            .errors(&[ErrorCode::BadRequest, ErrorCode::NotFound]),
        public("/cdp/{token}", "openCdp")
            .summary("Open the debugging protocol of a session")
            .description("The token replaces the key.")
            .socket("The socket of the debugging protocol is open.")
            .errors(&[
                ErrorCode::BadRequest,
                ErrorCode::NotFound,
                ErrorCode::BrowserError,
            ]),
        public("/cdp/{token}/json/version", "getCdpVersion")
            .summary("Get version and socket URL of a session's browser")
            .content(
                200,
                "As Chromium returns it.",
                json("Version of the browser and of the protocol."),
            )
            .errors(&[ErrorCode::NotFound, ErrorCode::BrowserError]),
        public("/cdp/{token}/json/list", "listCdpTargets")
            .summary("List the pages of a session's browser")
            .content(
                200,
                "As Chromium returns it.",
                json("Pages with the URLs of their sockets."),
            )
            .errors(&[ErrorCode::NotFound, ErrorCode::BrowserError]),
    ]
}
