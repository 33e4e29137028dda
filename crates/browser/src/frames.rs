//! The frames of a page, including those in other processes, and their accessibility trees.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cdp::{Connection, Session, text};
use crate::error::BrowserError;
use crate::limits;
use crate::page::{self, Page};
use crate::snapshot::{AxTree, FrameTree};

/// Object group that is released as a whole.
const GROUP: &str = "harvestman-clickable";

/// Sessions with frames in other processes, by target id; removed when the frames are gone.
#[derive(Default)]
pub(crate) struct FrameSessions {
    attached: Mutex<HashMap<String, Arc<Session>>>,
}

/// One frame.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) id: String,
    /// Session of its process.
    pub(crate) session: Arc<Session>,
    /// Index of the parent frame, and the backend node id of its frame element there; `None` for the main
    /// frame.
    pub(crate) owner: Option<(usize, i64)>,
}

impl FrameSessions {
    /// Returns the frames of a page and their accessibility trees: the main frame first, each one after its
    /// parent.
    pub(crate) async fn with_trees(
        &self,
        page: &Page,
        connection: &Connection,
        deadline: Instant,
    ) -> Result<(Vec<Frame>, Vec<FrameTree>), BrowserError> {
        let frames = self.of(page, connection, deadline).await?;
        let trees = trees(&frames, deadline).await?;
        Ok((frames, trees))
    }

    async fn of(
        &self,
        page: &Page,
        connection: &Connection,
        deadline: Instant,
    ) -> Result<Vec<Frame>, BrowserError> {
        let main = Frame {
            id: page.main_frame().to_owned(),
            session: page.session().clone(),
            owner: None,
        };
        let mut frames = vec![main];
        let remote_frames = self.remote_frames(connection, deadline).await?;
        let mut at = 0;
        // Each out-of-process frame has its own frame tree.
        while at < frames.len() {
            let Frame { session, id, .. } = frames[at].clone();
            let is_root = frames[at].owner.is_none()
                || remote_frames.iter().any(|remote_frame| remote_frame.target == id);
            if is_root {
                let tree = session
                    .call_until("Page.getFrameTree", json!({}), deadline)
                    .await?;
                add_child_frames(&mut frames, at, &tree["frameTree"], deadline).await;
            }
            for remote_frame in remote_frames
                .iter()
                .filter(|remote_frame| remote_frame.parent == id)
            {
                if frames.iter().all(|frame| frame.id != remote_frame.target) {
                    add_frame(
                        &mut frames,
                        at,
                        &remote_frame.target,
                        remote_frame.session.clone(),
                        deadline,
                    )
                    .await;
                }
            }
            at += 1;
        }
        Ok(frames)
    }

    /// Returns the out-of-process frames of all pages.
    async fn remote_frames(
        &self,
        connection: &Connection,
        deadline: Instant,
    ) -> Result<Vec<RemoteFrame>, BrowserError> {
        let params = json!({"filter": [{"type": "iframe"}]});
        let response = connection.call("Target.getTargets", params).await?;
        let mut remote_frames = Vec::new();
        for target in response["targetInfos"].as_array().into_iter().flatten() {
            let id = text(target, "targetId");
            if remote_frames.len() == limits::SNAPSHOT_FRAMES || Instant::now() > deadline {
                break;
            }
            let known = self.attached.lock().get(&id).cloned();
            let session = match known {
                Some(session) => session,
                // The frame may be gone by now.
                None => match connection.attach(&id).await {
                    Ok((session, _events)) => Arc::new(session),
                    Err(_) => continue,
                },
            };
            remote_frames.push(RemoteFrame {
                parent: text(target, "parentFrameId"),
                target: id,
                session,
            });
        }
        let kept = remote_frames
            .iter()
            .map(|remote_frame| (remote_frame.target.clone(), remote_frame.session.clone()));
        *self.attached.lock() = kept.collect();
        Ok(remote_frames)
    }
}

/// An out-of-process frame.
struct RemoteFrame {
    target: String,
    parent: String,
    session: Arc<Session>,
}

/// Adds the frames of a frame tree, which share the process of its root.
async fn add_child_frames(frames: &mut Vec<Frame>, root: usize, tree: &Value, deadline: Instant) {
    let mut waiting = vec![(root, tree)];
    while let Some((parent, tree)) = waiting.pop() {
        for child in tree["childFrames"].as_array().into_iter().flatten() {
            let session = frames[root].session.clone();
            let id = text(&child["frame"], "id");
            if let Some(at) = add_frame(frames, parent, &id, session, deadline).await {
                waiting.push((at, child));
            }
        }
    }
}

/// Adds a frame and returns its index; `None` if its element is gone or there are too many frames.
async fn add_frame(
    frames: &mut Vec<Frame>,
    parent: usize,
    id: &str,
    session: Arc<Session>,
    deadline: Instant,
) -> Option<usize> {
    if frames.len() >= limits::SNAPSHOT_FRAMES {
        return None;
    }
    let owner = frames[parent]
        .session
        .call_until("DOM.getFrameOwner", json!({"frameId": id}), deadline)
        .await
        .ok()?;
    frames.push(Frame {
        id: id.to_owned(),
        session,
        owner: Some((parent, owner["backendNodeId"].as_i64()?)),
    });
    Some(frames.len() - 1)
}

/// Returns the accessibility trees of frames; empty for a frame that is gone.
async fn trees(frames: &[Frame], deadline: Instant) -> Result<Vec<FrameTree>, BrowserError> {
    let mut trees = Vec::with_capacity(frames.len());
    for frame in frames {
        let params = json!({"frameId": frame.id});
        let response = frame
            .session
            .call_raw_until("Accessibility.getFullAXTree", params, deadline)
            .await;
        let clickable = match response {
            Ok(_) => clickable(frame, deadline).await.unwrap_or_default(),
            Err(_) => HashSet::new(),
        };
        let tree = match response {
            Ok(response) => AxTree::read(response.get()),
            Err(BrowserError::Refused { .. }) if frame.owner.is_some() => AxTree::default(),
            Err(error) => return Err(error),
        };
        trees.push(FrameTree {
            owner: frame.owner,
            tree,
            clickable,
        });
    }
    Ok(trees)
}

/// Returns the backend node ids of elements that are clickable although their role does not say so.
async fn clickable(frame: &Frame, deadline: Instant) -> Result<HashSet<i64>, BrowserError> {
    let call = |method, params| frame.session.call_until(method, params, deadline);
    let script = include_str!("frames/clickable.js");
    let params = json!({
        "functionDeclaration": format!("(limit) => ({script})(limit)"),
        "executionContextId": page::isolated(&frame.session, &frame.id, deadline).await?,
        "arguments": [{"value": limits::SNAPSHOT_CLICKABLE}],
        "objectGroup": GROUP,
    });
    let list = page::value(call("Runtime.callFunctionOn", params).await?)?;
    let mut found = HashSet::new();
    let properties = json!({"objectId": list["objectId"], "ownProperties": true});
    let properties = call("Runtime.getProperties", properties).await?;
    for property in properties["result"].as_array().into_iter().flatten() {
        if property["value"]["subtype"] != "node" {
            continue;
        }
        let node = json!({"objectId": property["value"]["objectId"]});
        let node = call("DOM.describeNode", node).await?;
        found.extend(node["node"]["backendNodeId"].as_i64());
    }
    frame
        .session
        .post("Runtime.releaseObjectGroup", json!({"objectGroup": GROUP}));
    Ok(found)
}
