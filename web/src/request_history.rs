//! The latest job requests sent from this browser, kept in local storage so that the job screen can show and repeat
//! them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::STORED_REQUESTS;
use crate::storage;

const NAME: &str = "requests";

/// The request that started a job.
#[derive(Clone, Serialize, Deserialize)]
struct StoredRequest {
    id: String,
    body: Value,
}

/// Stores the request of a job.
pub fn save(id: &str, body: Value) {
    let mut requests: Vec<StoredRequest> = storage::read(NAME).unwrap_or_default();
    requests.retain(|stored| stored.id != id);
    requests.insert(
        0,
        StoredRequest {
            id: id.to_owned(),
            body,
        },
    );
    requests.truncate(STORED_REQUESTS);
    storage::write(NAME, &requests);
}

/// Returns the request body of a job that was started in this browser.
pub fn request_of(id: &str) -> Option<Value> {
    let requests: Vec<StoredRequest> = storage::read(NAME)?;
    requests
        .into_iter()
        .find(|stored| stored.id == id)
        .map(|stored| stored.body)
}
