//! New ids: UUID version 7, so that they sort by time.

use uuid::Uuid;

/// Returns a new id. Ids created later in this process sort later.
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_7_and_sort_by_time() {
        let earlier = new_id();
        let later = new_id();
        assert_eq!(earlier.get_version_num(), 7);
        assert!(earlier < later);
    }
}
