//! Mouse events at a position of the window, in CSS pixels.

use serde_json::json;
use tokio::time::Instant;

use crate::cdp::Session;
use crate::error::BrowserError;

/// Moves the pointer to a position and clicks `times` times in a row.
pub(crate) async fn click(
    session: &Session,
    x: f64,
    y: f64,
    times: u32,
    deadline: Instant,
) -> Result<(), BrowserError> {
    move_to(session, x, y, deadline).await?;
    for count in 1..=times {
        for (kind, buttons) in [("mousePressed", 1), ("mouseReleased", 0)] {
            let event = json!({
                "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": count,
            });
            session
                .call_until("Input.dispatchMouseEvent", event, deadline)
                .await?;
        }
    }
    Ok(())
}

/// Moves the pointer to a position with no button pressed.
pub(crate) async fn move_to(
    session: &Session,
    x: f64,
    y: f64,
    deadline: Instant,
) -> Result<(), BrowserError> {
    let event = json!({"type": "mouseMoved", "x": x, "y": y, "button": "none", "buttons": 0});
    session
        .call_until("Input.dispatchMouseEvent", event, deadline)
        .await
        .map(drop)
}
