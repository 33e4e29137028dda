//! One element of a page: inspected by functions in an isolated world, out of reach of the page's scripts,
//! and used with mouse events.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cdp::{Session, text};
use crate::error::BrowserError;
use crate::frames::Frame;
use crate::page::{self, Page};
use crate::pointer;

/// A remote object of the browser; released on drop.
pub(crate) struct Element {
    session: Arc<Session>,
    object: String,
    /// The elements that contain its frame, innermost first.
    frame_elements: Vec<Element>,
}

impl Element {
    /// Returns the element that a function of the main frame returns; `None` if it returns null.
    pub(crate) async fn from_function(
        page: &Page,
        function: &str,
        arguments: Value,
        deadline: Instant,
    ) -> Result<Option<Element>, BrowserError> {
        let context = page::isolated(page.session(), page.main_frame(), deadline).await?;
        let params = json!({
            "functionDeclaration": format!("(...given) => ({function})(...given)"),
            "executionContextId": context,
            "arguments": values(&arguments),
        });
        let response = page
            .session()
            .call_until("Runtime.callFunctionOn", params, deadline)
            .await?;
        let result = page::value(response)?;
        Ok(result["objectId"].as_str().map(|object| Element {
            session: page.session().clone(),
            object: object.to_owned(),
            frame_elements: Vec::new(),
        }))
    }

    /// Returns the element with this backend node id in a frame; `frames` are the frames of its page.
    pub(crate) async fn from_node(
        frames: &[Frame],
        frame: usize,
        node_id: i64,
        deadline: Instant,
    ) -> Result<Element, BrowserError> {
        let mut element = resolve(&frames[frame], node_id, deadline).await?;
        let mut inner = frame;
        while let Some((outer, frame_element)) = frames[inner].owner {
            let frame_element = resolve(&frames[outer], frame_element, deadline).await?;
            element.frame_elements.push(frame_element);
            inner = outer;
        }
        Ok(element)
    }

    /// Calls a function with the element as `this` and returns its JSON value. An exception is returned as
    /// [`BrowserError::Refused`] with its message.
    pub(crate) async fn call(
        &self,
        function: &str,
        arguments: Value,
        deadline: Instant,
    ) -> Result<Value, BrowserError> {
        let params = json!({
            "functionDeclaration": function,
            "objectId": self.object,
            "arguments": values(&arguments),
            "returnByValue": true,
            "awaitPromise": true,
            "userGesture": true,
        });
        let response = self
            .session
            .call_until("Runtime.callFunctionOn", params, deadline)
            .await?;
        let mut result = page::value(response)?;
        Ok(result["value"].take())
    }

    /// Clicks at the position where the element is visible; if there is none, clicks it by script. Two clicks
    /// make a double click.
    pub(crate) async fn click(&self, page: &Page, times: u32, deadline: Instant) -> Result<(), BrowserError> {
        const POINT: &str = include_str!("actions/point.js");
        let point = format!("function () {{ return ({POINT})(this); }}");
        if let Some((x, y)) = self.position(&point, deadline).await? {
            pointer::click(page.session(), x, y, times, deadline).await?;
        }
        page.after_input(deadline).await
    }

    /// Returns the position in the window. `function` returns it relative to the element's own frame, and may
    /// scroll.
    async fn position(&self, function: &str, deadline: Instant) -> Result<Option<(f64, f64)>, BrowserError> {
        const SHOW: &str = "function () { this.scrollIntoView({ block: 'center', behavior: 'instant' }); }";
        const CORNER: &str = "function () {
            const box = this.getBoundingClientRect();
            const style = getComputedStyle(this);
            return { x: box.left + this.clientLeft + parseFloat(style.paddingLeft),
                     y: box.top + this.clientTop + parseFloat(style.paddingTop) };
        }";
        for frame_element in self.frame_elements.iter().rev() {
            frame_element.call(SHOW, json!([]), deadline).await?;
        }
        let mut position = self.call(function, json!([]), deadline).await.map(point)?;
        for frame_element in &self.frame_elements {
            let corner = frame_element.call(CORNER, json!([]), deadline).await.map(point)?;
            position = position.zip(corner).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
        }
        Ok(position)
    }

    /// Moves the pointer over the element.
    pub(crate) async fn hover(&self, page: &Page, deadline: Instant) -> Result<(), BrowserError> {
        const MIDDLE: &str = "function () {
            this.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
            const box = this.getBoundingClientRect();
            return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
        }";
        if let Some((x, y)) = self.position(MIDDLE, deadline).await? {
            pointer::move_to(page.session(), x, y, deadline).await?;
        }
        page.after_input(deadline).await
    }
}

impl Drop for Element {
    fn drop(&mut self) {
        self.session
            .post("Runtime.releaseObject", json!({"objectId": self.object}));
    }
}

async fn resolve(frame: &Frame, node_id: i64, deadline: Instant) -> Result<Element, BrowserError> {
    let context = page::isolated(&frame.session, &frame.id, deadline).await?;
    let params = json!({"backendNodeId": node_id, "executionContextId": context});
    let response = frame
        .session
        .call_until("DOM.resolveNode", params, deadline)
        .await?;
    Ok(Element {
        session: frame.session.clone(),
        object: text(&response["object"], "objectId"),
        frame_elements: Vec::new(),
    })
}

fn point(value: Value) -> Option<(f64, f64)> {
    value["x"].as_f64().zip(value["y"].as_f64())
}

fn values(arguments: &Value) -> Vec<Value> {
    let all = arguments.as_array().into_iter().flatten();
    all.map(|value| json!({"value": value})).collect()
}
