//! The tools for monitors.

use harvestman_core::api::Wire;
use harvestman_core::api::fields::{Field, Schema};
use harvestman_core::api::monitor::{MonitorChange, MonitorRequest};
use harvestman_core::api::wire_enum::WireEnum;
use harvestman_core::limits::MAX_MONITOR_LIMIT;

use super::{ACTS, About, ENDS, READS, counter, id, names, offset, wait};
use crate::limits;

words! {
    /// Tool for monitors, by its name without the prefix.
    MonitorTool {
        /// Creates a monitor.
        Create = "monitor",
        /// Lists monitors.
        List = "monitor_list",
        /// Changes a monitor.
        Update = "monitor_update",
        /// Starts a check.
        Run = "monitor_run",
        /// Lists checks, or the pages of one.
        Checks = "monitor_checks",
        /// Deletes a monitor.
        Delete = "monitor_delete",
    }
}

impl MonitorTool {
    /// Returns the fields of the tool's API request.
    pub(super) fn request_fields(self) -> Vec<Field> {
        match self {
            MonitorTool::Create => MonitorRequest::fields(),
            MonitorTool::Update => MonitorChange::fields(),
            _ => Vec::new(),
        }
    }

    /// Returns the arguments that are not fields of the tool's API request.
    pub(super) fn own_fields(self) -> Vec<Field> {
        let monitor = || id("Id of the monitor, from harvestman_monitor or harvestman_monitor_list");
        let limit = || {
            let help = "Entries to return. Default: 25";
            Field::new(names::LIMIT, help, Schema::Integer(1..=MAX_MONITOR_LIMIT))
        };
        let skip = || counter(names::SKIP, "Entries to skip. Default: 0");
        match self {
            MonitorTool::Create => Vec::new(),
            MonitorTool::List => vec![skip(), limit(), offset()],
            MonitorTool::Update | MonitorTool::Delete => vec![monitor()],
            MonitorTool::Run => vec![monitor(), wait(limits::MCP_WAIT.as_secs())],
            MonitorTool::Checks => vec![
                monitor(),
                Field::new(
                    names::CHECK,
                    "Id of a check: its pages are returned instead of the checks",
                    Schema::Formatted("uuid"),
                ),
                skip(),
                limit(),
                offset(),
            ],
        }
    }

    pub(super) fn about(self) -> About {
        match self {
            MonitorTool::Create => About {
                title: "Watch pages",
                description: "Creates a monitor, which checks pages on a schedule and reports what is new, changed \
                    or gone. `schedule: {\"text\": \"every 30 minutes\"}`, `targets: [{\"type\": \"scrape\", \
                    \"urls\": [...]}]`; `goal` says in words which changes matter. Returns the id of the monitor.",
                ..ACTS
            },
            MonitorTool::List => About {
                title: "List monitors",
                description: "Lists the monitors of the team, newest first, with their schedules and the counts of \
                    their last checks.",
                open_world: false,
                ..READS
            },
            MonitorTool::Update => About {
                title: "Change a monitor",
                description: "Changes a monitor. Fields that are not given keep their values. `status: \"paused\"` \
                    stops its schedule, `\"active\"` resumes it.",
                open_world: false,
                ..ACTS
            },
            MonitorTool::Run => About {
                title: "Check pages now",
                description: "Starts a check of a monitor at once, waits up to `waitSeconds` for its end, and \
                    returns its counts with the pages that differ.",
                ..ACTS
            },
            MonitorTool::Checks => About {
                title: "Read the checks of a monitor",
                description: "Lists the checks of a monitor, newest first. With `check` it returns the pages of one \
                    check: their status, differences and judgments.",
                open_world: false,
                ..READS
            },
            MonitorTool::Delete => About {
                title: "Delete a monitor",
                description: "Deletes a monitor with its checks. To stop it for a while, set its `status` to \
                    `paused` with harvestman_monitor_update instead.",
                ..ENDS
            },
        }
    }
}
