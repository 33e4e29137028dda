//! The state that a live browser keeps between commands: the references of the last snapshot.

use std::sync::Arc;

use parking_lot::Mutex;

use super::Target;
use crate::frames::{Frame, FrameSessions};
use crate::snapshot::SnapshotElement;

/// The state of one live browser.
#[derive(Default)]
pub(crate) struct CommandState {
    pub(super) frames: FrameSessions,
    references: Mutex<Option<Arc<References>>>,
}

/// The elements that the references of a snapshot stand for.
pub(super) struct References {
    /// Target id of the page.
    pub(super) target: String,
    /// Loader id of the document.
    pub(super) document: String,
    pub(super) frames: Vec<Frame>,
    pub(super) elements: Vec<SnapshotElement>,
}

impl CommandState {
    /// Replaces the last snapshot.
    pub(super) fn set_references(&self, references: References) {
        *self.references.lock() = Some(Arc::new(references));
    }

    pub(super) fn references(&self) -> Option<Arc<References>> {
        self.references.lock().clone()
    }

    /// Returns the description of an element for messages.
    pub(super) fn describe(&self, target: &Target) -> String {
        match target {
            Target::Find(find) => match &find.name {
                Some(name) => format!("`{}` with the name `{name}`", find.words),
                None => format!("`{}`", find.words),
            },
            Target::Reference(number) => {
                let references = self.references();
                let element = references
                    .as_ref()
                    .and_then(|references| references.elements.get(number.checked_sub(1)?));
                match element {
                    Some(element) if !element.name.is_empty() => {
                        format!("@e{number} ({} \"{}\")", element.role, element.name)
                    }
                    Some(element) => format!("@e{number} ({})", element.role),
                    None => format!("@e{number}"),
                }
            }
        }
    }
}
