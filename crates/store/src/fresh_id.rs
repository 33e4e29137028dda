//! New identities: UUID version 7, so that ids sort by time.

use uuid::{Builder, Uuid};

use harvestman_core::time::Timestamp;

use crate::error::StoreError;

/// A new id for something made at `now`.
pub fn fresh_id(now: Timestamp) -> Result<Uuid, StoreError> {
    let mut random = [0_u8; 10];
    getrandom::fill(&mut random)
        .map_err(|error| StoreError::Passing(format!("no random numbers from the system: {error}")))?;
    Ok(Builder::from_unix_timestamp_millis(now.0, &random).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_7_and_sort_by_time() {
        let earlier = fresh_id(Timestamp(1_769_850_300_000)).unwrap();
        let later = fresh_id(Timestamp(1_769_850_300_001)).unwrap();
        assert_eq!(earlier.get_version_num(), 7);
        assert!(earlier < later);
    }
}
