//! Operations of browser sessions, and the paths that are opened with a session's tokens.

use super::examples::{self, SESSION_ERRORS};
use super::operation::{Content, Operation, Tag};
use crate::api::browser::{BrowserRequest, ExecuteRequest, SessionStatus};
use crate::api::error::ErrorCode;
use crate::api::fields::FieldType;
use crate::api::interact::InteractRequest;

pub(super) fn operations() -> Vec<Operation> {
    let new = |method, path, id, summary| Operation::new(Tag::Sessions, method, path, id, summary);
    let mut operations = vec![
        new(
            "POST",
            "/v2/scrape/{id}/interact",
            "interact",
            "Run code or a prompt in the browser of a scraped page",
        )
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
        new(
            "DELETE",
            "/v2/scrape/{id}/interact",
            "endInteract",
            "End the browser session of a scrape",
        )
        .response("The session has ended.", examples::session_ended())
        .errors(&[ErrorCode::Forbidden]),
    ];
    let families = [
        (
            ["/v2/browser", "/v2/browser/{id}/execute", "/v2/browser/{id}"],
            ["openBrowser", "listBrowsers", "executeInBrowser", "endBrowser"],
        ),
        (
            ["/v2/interact", "/v2/interact/{id}/execute", "/v2/interact/{id}"],
            ["openSession", "listSessions", "executeInSession", "endSession"],
        ),
    ];
    for ([sessions, execute, session], [open, list, run, end]) in families {
        operations.extend([
            new("POST", sessions, open, "Open a browser session")
                .body::<BrowserRequest>(&["ttl"])
                .response("The session is open.", examples::browser_created())
                .errors(SESSION_ERRORS),
            new("GET", sessions, list, "List browser sessions")
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
            new("POST", execute, run, "Run code in a browser session")
                .body::<ExecuteRequest>(&[])
                .response("What the code did.", examples::executed())
                .errors(SESSION_ERRORS)
                .errors(&[ErrorCode::SessionDestroyed]),
            new("DELETE", session, end, "End a browser session")
                .response("The session has ended.", examples::session_ended())
                .errors(&[ErrorCode::Forbidden]),
        ]);
    }
    operations.extend(doors());
    operations
}

fn doors() -> Vec<Operation> {
    let new = |path, id, summary| Operation::public(Tag::Sessions, path, id, summary);
    let json = |help| Content::Object(help);
    vec![
        new("/live/{token}", "getLiveView", "Show the live view of a session")
            .description("A page for an iframe. The token replaces the key.")
            .content(200, "The page.", Content::Text("text/html"))
            .content(
                404,
                "A page that says that the session has ended.",
                Content::Text("text/html"),
            ),
        new(
            "/live/{token}/socket",
            "openLiveView",
            "Open the socket of a live view",
        )
        .socket("The socket of frames and input is open.")
        .errors(&[ErrorCode::BadRequest, ErrorCode::NotFound]),
        new(
            "/cdp/{token}",
            "openCdp",
            "Open the debugging protocol of a session",
        )
        .description("The token replaces the key.")
        .socket("The socket of the debugging protocol is open.")
        .errors(&[
            ErrorCode::BadRequest,
            ErrorCode::NotFound,
            ErrorCode::BrowserError,
        ]),
        new(
            "/cdp/{token}/json/version",
            "getCdpVersion",
            "Get version and socket URL of a session's browser",
        )
        .content(
            200,
            "As Chromium returns it.",
            json("Version of the browser and of the protocol."),
        )
        .errors(&[ErrorCode::NotFound, ErrorCode::BrowserError]),
        new(
            "/cdp/{token}/json/list",
            "listCdpTargets",
            "List the pages of a session's browser",
        )
        .content(
            200,
            "As Chromium returns it.",
            json("Pages with the URLs of their sockets."),
        )
        .errors(&[ErrorCode::NotFound, ErrorCode::BrowserError]),
    ]
}
