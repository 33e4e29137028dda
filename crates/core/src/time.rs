//! Points in time as plain numbers. The core never reads a clock: callers pass the time in.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since 1970-01-01T00:00:00Z. Serialized as ISO 8601 in UTC with milliseconds and `Z`
/// (docs/API.md section 1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Returns the milliseconds from `earlier` to `self`, or 0 if `earlier` is later.
    pub fn millis_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Converts to `jiff`'s type; clamps to the latest time that it can represent.
    pub(crate) fn to_jiff(self) -> jiff::Timestamp {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX)
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, duration: Duration) -> Timestamp {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Timestamp(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.to_jiff())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "openapi")]
impl schemars::JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time: jiff::Timestamp = text.parse().map_err(|_| {
            serde::de::Error::custom(format_args!("`{text}` is not a time with a zone in ISO 8601"))
        })?;
        Ok(Timestamp(u64::try_from(time.as_millisecond()).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_serialize_with_milliseconds_and_z() {
        let time = Timestamp(1_769_850_300_000);
        assert_eq!(
            serde_json::to_string(&time).unwrap(),
            r#""2026-01-31T09:05:00.000Z""#
        );
        assert_eq!(
            serde_json::from_str::<Timestamp>(r#""2026-01-31T09:05:00.000Z""#).unwrap(),
            time
        );
    }
}
