//! The frames of a page, also those that live in processes of their own, and the accessibility trees they have.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cdp::{Connection, Session, text};
use crate::error::BrowserError;
use crate::limits;
use crate::page::{self, Page};
use crate::snapshot::{AxTree, FrameTree};

/// Objects that are let go of together.
const GROUP: &str = "harvestman-clickable";

/// Sessions with frames in processes of their own, by their targets; they end with the frames.
#[derive(Default)]
pub(crate) struct FrameSessions {
    attached: Mutex<HashMap<String, Arc<Session>>>,
}

/// One frame.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) id: String,
    /// The protocol with its process.
    pub(crate) session: Arc<Session>,
    /// Place of the frame that holds it, and the browser's number for the element there; none for the main frame.
    pub(crate) owner: Option<(usize, i64)>,
}

impl FrameSessions {
    /// The frames of a page, its main frame first, each behind the one that holds it.
    pub(crate) async fn of(
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
        let others = self.others(connection, deadline).await?;
        let mut at = 0;
        // Each frame with a process of its own has a tree of its own.
        while at < frames.len() {
            let Frame { session, id, .. } = frames[at].clone();
            let is_root = frames[at].owner.is_none() || others.iter().any(|other| other.target == id);
            if is_root {
                let tree = session
                    .call_until("Page.getFrameTree", json!({}), deadline)
                    .await?;
                within(&mut frames, at, &tree["frameTree"], deadline).await;
            }
            for other in others.iter().filter(|other| other.parent == id) {
                if frames.iter().all(|frame| frame.id != other.target) {
                    hold(&mut frames, at, &other.target, other.session.clone(), deadline).await;
                }
            }
            at += 1;
        }
        Ok(frames)
    }

    /// Frames of all pages that live in processes of their own.
    async fn others(&self, connection: &Connection, deadline: Instant) -> Result<Vec<Other>, BrowserError> {
        let params = json!({"filter": [{"type": "iframe"}]});
        let answer = connection.call("Target.getTargets", params).await?;
        let mut others = Vec::new();
        for target in answer["targetInfos"].as_array().into_iter().flatten() {
            let id = text(target, "targetId");
            if others.len() == limits::SNAPSHOT_FRAMES || Instant::now() > deadline {
                break;
            }
            let known = self.attached().get(&id).cloned();
            let session = match known {
                Some(session) => session,
                // A frame may be gone before it is looked at.
                None => match connection.attach(&id).await {
                    Ok((session, _events)) => Arc::new(session),
                    Err(_) => continue,
                },
            };
            others.push(Other {
                parent: text(target, "parentFrameId"),
                target: id,
                session,
            });
        }
        let kept = others
            .iter()
            .map(|other| (other.target.clone(), other.session.clone()));
        *self.attached() = kept.collect();
        Ok(others)
    }

    fn attached(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A frame in a process of its own.
struct Other {
    target: String,
    parent: String,
    session: Arc<Session>,
}

/// Appends the frames of a tree that share the process of its root.
async fn within(frames: &mut Vec<Frame>, root: usize, tree: &Value, deadline: Instant) {
    let mut waiting = vec![(root, tree)];
    while let Some((parent, tree)) = waiting.pop() {
        for child in tree["childFrames"].as_array().into_iter().flatten() {
            let session = frames[root].session.clone();
            let id = text(&child["frame"], "id");
            if let Some(at) = hold(frames, parent, &id, session, deadline).await {
                waiting.push((at, child));
            }
        }
    }
}

/// Appends a frame; nothing when its element is gone, or there are too many.
async fn hold(
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

/// The accessibility trees of frames; a frame that goes away meanwhile has an empty one.
pub(crate) async fn trees(frames: &[Frame], deadline: Instant) -> Result<Vec<FrameTree>, BrowserError> {
    let mut trees = Vec::with_capacity(frames.len());
    for frame in frames {
        let params = json!({"frameId": frame.id});
        let answer = frame
            .session
            .raw_until("Accessibility.getFullAXTree", params, deadline)
            .await;
        let clickable = match answer {
            Ok(_) => clickable(frame, deadline).await.unwrap_or_default(),
            Err(_) => HashSet::new(),
        };
        let tree = match answer {
            Ok(answer) => AxTree::read(answer.get()),
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

/// The browser's numbers for elements of a frame that can be clicked though their roles do not say so.
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
