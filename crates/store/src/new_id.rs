//! New ids: UUID version 7, so that they sort by time.

use uuid::Uuid;

/// Returns a new id. Ids created later in this process sort later.
pub fn fresh_id() -> Uuid {
    Uuid::now_v7()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_7_and_sort_by_time() {
        let earlier = fresh_id();
        let later = fresh_id();
        assert_eq!(earlier.get_version_num(), 7);
        assert!(earlier < later);
    }
}
