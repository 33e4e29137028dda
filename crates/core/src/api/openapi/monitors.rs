//! Operations of monitors.

use serde_json::{Map, Value, json};

use super::examples;
use super::operation::{Operation, Tag, delete, get, patch, post, tagged};
use crate::api::console::SuccessResponse;
use crate::api::error::ErrorCode;
use crate::api::fields::{FieldType, Schema, Slot};
use crate::api::monitor::{MonitorChange, MonitorRequest};
use crate::api::monitor_response::{
    BillingStatus, Check, CheckPage, CheckPages, CheckStarted, CheckStatus, CheckSummary, CheckTrigger,
    CheckWithPages, Monitor, MonitorSchedule, MonitorStatus, PageStatus,
};
use crate::api::team::Data;
use crate::limits::{DEFAULT_MONITOR_LIMIT, MAX_MONITOR_LIMIT};

const REFUSALS: &[ErrorCode] = &[
    ErrorCode::ActionsNotSupported,
    ErrorCode::Forbidden,
    ErrorCode::UnsafeTarget,
    ErrorCode::NotConfigured,
];

pub(super) fn operations() -> Vec<Operation> {
    tagged([(Tag::Monitors, monitors())])
}

fn monitors() -> Vec<Operation> {
    vec![
        post("/v2/monitor", "createMonitor")
            .summary("Create a monitor")
            .description("Checks pages on a schedule and reports what has changed.")
            .body::<MonitorRequest>(&["goal"])
            .response(
                "The monitor; its first check is at `nextRunAt`.",
                Data::new(monitor()),
            )
            .errors(REFUSALS)
            .errors(&[ErrorCode::Conflict]),
        with_paging(
            get("/v2/monitor", "listMonitors").summary("List monitors"),
            "offset",
        )
        .response("The team's monitors, newest first.", Data::new(vec![monitor()])),
        get("/v2/monitor/{id}", "getMonitor")
            .summary("Get a monitor")
            .response("The monitor.", Data::new(monitor())),
        patch("/v2/monitor/{id}", "updateMonitor")
            .summary("Change a monitor")
            .description(
                "Absent fields keep their values; null removes `webhook`, `notification` and `goal`. A check \
                 that is running keeps its options.",
            )
            .body::<MonitorChange>(&["name"])
            .response("The changed monitor.", Data::new(monitor()))
            .errors(REFUSALS),
        delete("/v2/monitor/{id}", "deleteMonitor")
            .summary("Delete a monitor with its checks")
            .response("The monitor is deleted.", SuccessResponse { success: true }),
        post("/v2/monitor/{id}/run", "runMonitor")
            .summary("Start a check now")
            .response(
                "The check is stored and will run.",
                CheckStarted {
                    success: true,
                    id: examples::id().to_string(),
                    data: check(CheckStatus::Queued),
                },
            )
            .errors(&[ErrorCode::Conflict, ErrorCode::InsufficientCredits]),
        with_paging(
            get("/v2/monitor/{id}/checks", "listMonitorChecks").summary("List checks of a monitor"),
            "offset",
        )
        .query(
            "status",
            "Only checks in this state.",
            &CheckStatus::schema(()),
            None,
        )
        .response(
            "Checks, newest first.",
            Data::new(vec![check(CheckStatus::Completed)]),
        ),
        with_paging(
            get("/v2/monitor/{id}/checks/{check}", "getMonitorCheck").summary("Get a check with its pages"),
            "skip",
        )
        .query(
            "status",
            "Only pages in this state.",
            &PageStatus::schema(()),
            None,
        )
        .response(
            "The check with a part of its pages. Follow `next` until it is null.",
            CheckPages {
                success: true,
                next: None,
                data: CheckWithPages {
                    check: check(CheckStatus::Completed),
                    pages: vec![page()],
                },
            },
        ),
    ]
}

fn with_paging(operation: Operation, offset: &'static str) -> Operation {
    operation
        .query(
            "limit",
            "Maximum number of entries.",
            &Schema::Integer(1..=MAX_MONITOR_LIMIT),
            Some(DEFAULT_MONITOR_LIMIT.into()),
        )
        .query(
            offset,
            "Number of entries to leave out.",
            &Schema::Integer(0..=Slot::UNBOUNDED),
            Some(0.into()),
        )
}

fn summary() -> CheckSummary {
    CheckSummary {
        total_pages: 1,
        changed: 1,
        ..CheckSummary::default()
    }
}

fn monitor() -> Monitor {
    Monitor {
        id: examples::id().to_string(),
        name: "Prices".to_owned(),
        status: MonitorStatus::Active,
        schedule: MonitorSchedule {
            cron: "0 * * * *".to_owned(),
            timezone: "UTC".to_owned(),
        },
        next_run_at: Some(examples::later()),
        last_run_at: None,
        current_check_id: None,
        targets: vec![json!({ "id": "target-1", "type": "scrape", "urls": ["https://example.com"] })],
        webhook: None,
        notification: None,
        retention_days: 30,
        estimated_credits_per_month: Some(720),
        last_check_summary: None,
        goal: Some("The price falls".to_owned()),
        judge_enabled: Some(true),
        created_at: examples::later(),
        updated_at: examples::later(),
    }
}

fn check(status: CheckStatus) -> Check {
    let ended = status == CheckStatus::Completed;
    Check {
        id: examples::id().to_string(),
        monitor_id: examples::id().to_string(),
        status,
        trigger: CheckTrigger::Manual,
        scheduled_for: None,
        started_at: ended.then(examples::later),
        finished_at: ended.then(examples::later),
        estimated_credits: Some(1),
        reserved_credits: None,
        actual_credits: ended.then_some(1),
        billing_status: match ended {
            true => BillingStatus::Confirmed,
            false => BillingStatus::Reserved,
        },
        summary: match ended {
            true => summary(),
            false => CheckSummary::default(),
        },
        target_results: None,
        notification_status: None,
        error: None,
        created_at: examples::later(),
        updated_at: examples::later(),
    }
}

fn page() -> CheckPage {
    let metadata = Map::from_iter([("title".to_owned(), Value::from("Cup"))]);
    CheckPage {
        id: examples::id().to_string(),
        target_id: "target-1".to_owned(),
        url: "https://example.com/".to_owned(),
        status: PageStatus::Changed,
        previous_scrape_id: None,
        current_scrape_id: Some(examples::id().to_string()),
        status_code: Some(200),
        error: None,
        metadata: Some(metadata),
        diff: Some(json!({ "text": "@@ -1 +1 @@\n-$10\n+$9\n" })),
        snapshot: None,
        judgment: None,
        created_at: examples::later(),
    }
}
