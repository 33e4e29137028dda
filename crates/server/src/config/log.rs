//! Settings of the log.

use tracing_subscriber::filter::Targets;

use super::{ConfigError, Values};

/// What is logged, and how.
#[derive(Clone, Debug)]
pub struct LogConfig {
    /// Which events are logged.
    pub filter: Targets,
    /// Whether each line is a JSON object.
    pub json: bool,
}

impl LogConfig {
    pub(super) fn parse(values: &Values) -> Result<LogConfig, ConfigError> {
        Ok(LogConfig {
            filter: values.required("log", |text| {
                text.parse::<Targets>().map_err(|error| error.to_string())
            })?,
            json: values.required("log_format", |text| match text {
                "pretty" => Ok(false),
                "json" => Ok(true),
                _ => Err(format!("`{text}` is not `pretty` or `json`")),
            })?,
        })
    }
}
