//! The last requests sent from this device, so that a job's screen can show and repeat its request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::REMEMBERED_REQUESTS;
use crate::storage;

const NAME: &str = "requests";

/// A request that started a job.
#[derive(Clone, Serialize, Deserialize)]
struct Sent {
    id: String,
    body: Value,
}

/// Remembers a request.
pub fn remember(id: &str, body: Value) {
    let mut requests: Vec<Sent> = storage::read(NAME).unwrap_or_default();
    requests.retain(|sent| sent.id != id);
    requests.insert(
        0,
        Sent {
            id: id.to_owned(),
            body,
        },
    );
    requests.truncate(REMEMBERED_REQUESTS);
    storage::write(NAME, &requests);
}

/// The body of a job started here.
pub fn request_of(id: &str) -> Option<Value> {
    let requests: Vec<Sent> = storage::read(NAME)?;
    requests
        .into_iter()
        .find(|sent| sent.id == id)
        .map(|sent| sent.body)
}
