//! Error notice for a failed API call.

use harvestman_client::ClientError;
use leptos::prelude::*;

use crate::components::inline_code::inline_code;

/// Renders an error with the API's own code and message.
pub fn error_notice(error: &ClientError) -> AnyView {
    let code = match error {
        ClientError::Api { status, code, .. } => format!("{status} {code}"),
        ClientError::Unreadable { status, .. } => format!("HTTP {status}"),
        ClientError::Network(_) | ClientError::Aborted => "No response".to_owned(),
    };
    view! {
        <div class="pad">
            <div class="notice bad" role="alert">
                <strong>{code}</strong>
                {inline_code(&error.to_string())}
            </div>
        </div>
    }
    .into_any()
}
