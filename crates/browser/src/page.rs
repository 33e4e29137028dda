//! One page: opens it in its own browser context, navigates it, and reads its content.

mod intercept;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::MutexGuard;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use url::{Position, Url};

use crate::cdp::{Connection, Event, Session, text};
use crate::error::BrowserError;
use crate::limits;
use crate::visitor::Visitor;
use intercept::Interception;
use watch::{DocumentResponse, PagePolicy, PageState, Watch};

/// An open page.
pub(crate) struct Page {
    connection: Connection,
    /// Its own browser context; `None` for pages in the default context.
    context: Option<BrowserContext>,
    /// Id of the target and of its main frame.
    target: String,
    session: Arc<Session>,
    watch: Arc<Watch>,
}

/// A browser context. When it is dropped, all its pages, its cookies and its storage are removed, so that a page
/// whose client has gone leaves nothing behind.
struct BrowserContext {
    connection: Connection,
    id: String,
}

/// JavaScript function that returns the document as HTML, up to a number of characters.
const HTML_OF_DOCUMENT: &str = include_str!("page/take_html.js");

/// The content of a page.
pub(crate) struct Content {
    pub(crate) url: String,
    pub(crate) html: String,
    pub(crate) response: Option<DocumentResponse>,
}

/// The JavaScript context in which a script runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum World {
    /// The context of the page's own scripts.
    Page,
    /// A context that shares the page's DOM but not its scripts.
    Isolated,
}

impl Page {
    /// Opens an empty page with the settings of `visitor`, in a context with its own `proxy` if there is one.
    pub(crate) async fn open(
        connection: &Connection,
        visitor: &Visitor,
        proxy: Option<SocketAddr>,
    ) -> Result<Page, BrowserError> {
        let mut context = json!({"disposeOnDetach": true});
        if let Some(proxy) = proxy {
            context["proxyServer"] = format!("http://{proxy}").into();
            // Loopback hosts go through the proxy too.
            context["proxyBypassList"] = "<-loopback>".into();
        }
        let context = connection.call("Target.createBrowserContext", context).await?;
        let context = BrowserContext {
            connection: connection.clone(),
            id: text(&context, "browserContextId"),
        };
        let deny = json!({"behavior": "deny", "browserContextId": context.id});
        connection.call("Browser.setDownloadBehavior", deny).await?;
        let target = json!({"url": "about:blank", "browserContextId": context.id});
        let target = connection.call("Target.createTarget", target).await?;
        let target = text(&target, "targetId");
        let attached = connection.attach(&target).await?;
        let mut page = Page::adopt(connection, target, attached, visitor, Duration::ZERO).await?;
        page.context = Some(context);
        Ok(page)
    }

    /// Sets up an existing page with the settings of `visitor`. Its dialogs are dismissed after
    /// `dialog_timeout`.
    pub(crate) async fn adopt(
        connection: &Connection,
        target: String,
        (session, events): (Session, mpsc::Receiver<Event>),
        visitor: &Visitor,
        dialog_timeout: Duration,
    ) -> Result<Page, BrowserError> {
        let session = Arc::new(session);
        let policy = PagePolicy {
            interception: Interception {
                headers: visitor.headers().clone(),
                origin: None,
                cancels_authentication: true,
                blocker: visitor.blocker().cloned(),
                document: None,
                blocked_requests: 0,
            },
            dialog_timeout,
        };
        let intercept = policy.interception.enable();
        // A page's main frame has the id of its target. Intercepted requests continue during the setup.
        let watch = Watch::start(&session, target.clone(), policy, events);
        let mut commands = vec![
            ("Page.enable", json!({})),
            ("Network.enable", json!({})),
            ("Inspector.enable", json!({})),
            ("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
            // Pages behind others, such as behind a pop-up, stay visible: hidden ones have no animation frames, and
            // react to input only after seconds.
            ("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
            intercept,
        ];
        commands.extend(visitor.commands());
        // A page that was opened by another responds only once it runs; all of the above must be set by then.
        commands.push(("Runtime.runIfWaitingForDebugger", json!({})));
        for response in session.call_all(commands).await? {
            match response {
                // Set per process; another page of the same process has set it already.
                Err(BrowserError::Refused { command, .. }) if command == "Emulation.setLocaleOverride" => {}
                other => drop(other?),
            }
        }
        Ok(Page {
            connection: connection.clone(),
            context: None,
            target,
            session,
            watch,
        })
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn main_frame(&self) -> &str {
        &self.target
    }

    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the parameters that select the page's own browser context, if it has one.
    pub(crate) fn in_context(&self) -> Value {
        match &self.context {
            Some(context) => json!({"browserContextId": context.id}),
            None => json!({}),
        }
    }

    /// Returns the current state of the page.
    pub(crate) fn state(&self) -> MutexGuard<'_, PageState> {
        self.watch.state()
    }

    /// Adds the visitor's headers to requests to the origin of `url`. Other origins never get them.
    pub(crate) async fn send_headers_to(&self, url: &Url) -> Result<(), BrowserError> {
        let (command, params) = {
            let mut state = self.state();
            state.interception.origin = Some(url[..Position::BeforePath].to_owned());
            state.interception.enable()
        };
        self.session.call(command, params).await.map(drop)
    }

    /// Leaves HTTP authentication to an external client.
    pub(crate) fn delegate_authentication(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.interception.cancels_authentication) {
            let (command, params) = state.interception.enable();
            self.session.post(command, params);
        }
    }

    /// Opens a URL and waits until it is loaded.
    pub(crate) async fn navigate(&self, url: &Url, deadline: Instant) -> Result<(), BrowserError> {
        // A page of a session may have downloaded a file before.
        self.watch.state().download = false;
        let response = self
            .session
            .call_until("Page.navigate", json!({"url": url.as_str()}), deadline)
            .await?;
        if self.watch.state().download {
            return Err(BrowserError::Download);
        }
        match text(&response, "errorText") {
            // A response without content: the page does not change.
            reason if reason == "net::ERR_ABORTED" => Err(BrowserError::Download),
            reason if reason.is_empty() => self.wait_until_loaded(deadline).await,
            reason
                if ["net::ERR_INVALID_REDIRECT", "net::ERR_UNSAFE_REDIRECT"].contains(&reason.as_str()) =>
            {
                Err(BrowserError::BadRedirect)
            }
            reason => Err(BrowserError::Navigation { reason }),
        }
    }

    /// Returns the id of the history entry `by` steps away from the current one; `None` if there is none.
    pub(crate) async fn history_entry(
        &self,
        by: i64,
        deadline: Instant,
    ) -> Result<Option<Value>, BrowserError> {
        let history = self
            .session
            .call_until("Page.getNavigationHistory", json!({}), deadline)
            .await?;
        let index = history["currentIndex"].as_i64().unwrap_or(0) + by;
        let entry = usize::try_from(index)
            .ok()
            .and_then(|index| history["entries"].get(index));
        Ok(entry.map(|entry| entry["id"].clone()))
    }

    /// Terminates a script that keeps the page from responding for `timeout`.
    pub(crate) async fn terminate_hanging_script(&self, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        let response = self
            .session
            .call_until("Runtime.evaluate", json!({"expression": "0"}), deadline)
            .await;
        if response == Err(BrowserError::Timeout) {
            self.session.post("Runtime.terminateExecution", json!({}));
        }
    }

    /// Waits for the end of a navigation. If the document is there but still loads subresources after
    /// [`limits::LOAD_TIMEOUT`], it is used as it is.
    async fn wait_until_loaded(&self, deadline: Instant) -> Result<(), BrowserError> {
        let end = deadline.min(Instant::now() + limits::LOAD_TIMEOUT);
        let loaded = self.watch.until(end, |state| state.loaded.then_some(())).await;
        match loaded {
            Err(BrowserError::Timeout) => {
                self.watch
                    .until(deadline, |state| state.dom_ready.then_some(()))
                    .await
            }
            other => other,
        }
    }

    /// Waits until the page is idle, at most [`limits::QUIET_TIMEOUT`].
    pub(crate) async fn wait_until_idle(&self, deadline: Instant) -> Result<(), BrowserError> {
        let end = deadline.min(Instant::now() + limits::QUIET_TIMEOUT);
        self.watch.wait_until_idle(limits::QUIET, end).await
    }

    /// Waits for the end of a navigation that an input started, if any.
    pub(crate) async fn after_input(&self, deadline: Instant) -> Result<(), BrowserError> {
        self.sleep(limits::AFTER_INPUT, deadline).await?;
        if self.watch.state().navigating {
            self.watch
                .until(deadline, |state| {
                    (!state.navigating && state.dom_ready).then_some(())
                })
                .await?;
        }
        Ok(())
    }

    /// Waits for the end of a navigation away from the document and URL `before`.
    pub(crate) async fn wait_for_navigation(
        &self,
        before: (String, String),
        deadline: Instant,
    ) -> Result<(), BrowserError> {
        let end = deadline.min(Instant::now() + limits::LOAD_TIMEOUT);
        self.watch
            .until(end, |state| {
                let is_other_document = (&state.loader, &state.url) != (&before.0, &before.1);
                (is_other_document && !state.navigating && state.dom_ready).then_some(())
            })
            .await
    }

    /// Sleeps; returns an error if the deadline comes first.
    pub(crate) async fn sleep(&self, time: Duration, deadline: Instant) -> Result<(), BrowserError> {
        let end = Instant::now() + time;
        tokio::time::sleep_until(end.min(deadline)).await;
        match end > deadline {
            true => Err(BrowserError::Timeout),
            false => Ok(()),
        }
    }

    /// Returns the current content of the page. If the page navigates meanwhile, reads its next document; if it
    /// navigates again, stops it.
    pub(crate) async fn content(&self, deadline: Instant) -> Result<Content, BrowserError> {
        let html_script = format!("({HTML_OF_DOCUMENT})({})", limits::MAX_HTML_CHARS);
        let mut html = self.evaluate(&html_script, World::Isolated, deadline).await;
        for attempt in 0..limits::CONTENT_ATTEMPTS {
            match html {
                Err(error) if error.is_document_gone() => {
                    tracing::debug!(%error, attempt, "the page navigated while it was read");
                }
                _ => break,
            }
            match attempt {
                0 => self.wait_until_idle(deadline).await?,
                _ => {
                    let stop = self.session.call_until("Page.stopLoading", json!({}), deadline);
                    match stop.await {
                        // Refused between two documents.
                        Ok(_) | Err(BrowserError::Refused { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            html = self.evaluate(&html_script, World::Isolated, deadline).await;
        }
        let html = html.map_err(|error| match error.is_document_gone() {
            true => BrowserError::KeepsNavigating,
            false => error,
        })?;
        let state = self.watch.state();
        Ok(Content {
            url: state.url.clone(),
            html: html.as_str().unwrap_or_default().to_owned(),
            response: state.response.clone(),
        })
    }

    /// Returns the JSON value of an expression; promises are awaited. An exception is returned as
    /// [`BrowserError::Refused`] with its message.
    pub(crate) async fn evaluate(
        &self,
        expression: &str,
        world: World,
        deadline: Instant,
    ) -> Result<Value, BrowserError> {
        let mut params = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": true,
        });
        if world == World::Isolated {
            params["contextId"] = isolated(&self.session, self.main_frame(), deadline).await?;
        }
        let response = self
            .session
            .call_until("Runtime.evaluate", params, deadline)
            .await?;
        let mut result = value(response)?;
        Ok(result["value"].take())
    }

    /// Closes the page.
    pub(crate) async fn close(&self) {
        let params = json!({"targetId": self.target});
        close(&self.connection, "Target.closeTarget", params).await;
    }
}

impl Drop for BrowserContext {
    fn drop(&mut self) {
        let (connection, params) = (self.connection.clone(), json!({"browserContextId": self.id}));
        tokio::spawn(async move { close(&connection, "Target.disposeBrowserContext", params).await });
    }
}

/// Returns the isolated context for this crate's scripts in a frame. It ends with the document, so it is
/// created each time.
pub(crate) async fn isolated(
    session: &Session,
    frame: &str,
    deadline: Instant,
) -> Result<Value, BrowserError> {
    let params = json!({"frameId": frame, "worldName": "harvestman"});
    let mut response = session
        .call_until("Page.createIsolatedWorld", params, deadline)
        .await?;
    Ok(response["executionContextId"].take())
}

/// Returns the result of a script; an exception is returned as [`BrowserError::Refused`] with its message.
pub(crate) fn value(mut response: Value) -> Result<Value, BrowserError> {
    let exception = &response["exceptionDetails"];
    if exception.is_null() {
        return Ok(response["result"].take());
    }
    let message = exception["exception"]["description"]
        .as_str()
        .or(exception["exception"]["value"].as_str())
        .or(exception["text"].as_str())
        .unwrap_or("the script threw an exception");
    let reason = message.lines().next().unwrap_or_default().to_owned();
    Err(BrowserError::Refused {
        command: "the script".to_owned(),
        reason,
    })
}

async fn close(connection: &Connection, command: &'static str, params: Value) {
    let gone = connection.call(command, params);
    if !matches!(tokio::time::timeout(limits::CLOSE_TIMEOUT, gone).await, Ok(Ok(_))) {
        tracing::debug!("cannot close a page in time");
    }
}
