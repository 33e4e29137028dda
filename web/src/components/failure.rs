//! Why a call gave no answer.

use harvestman_client::ClientError;
use leptos::prelude::*;

/// What went wrong, in the API's own words.
pub fn failure(error: &ClientError) -> AnyView {
    let code = match error {
        ClientError::Api { status, code, .. } => format!("{status} {code}"),
        ClientError::Unreadable { status, .. } => format!("HTTP {status}"),
        ClientError::Network(_) | ClientError::Aborted => "No answer".to_owned(),
    };
    view! {
        <div class="pad">
            <div class="notice bad" role="alert">
                <strong>{code}</strong>
                {error.to_string()}
            </div>
        </div>
    }
    .into_any()
}
