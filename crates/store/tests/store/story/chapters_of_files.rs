//! Files created for callers.

use harvestman_store::{NewFile, Store, StoredFile};

use crate::fixtures::{NOW, later};

pub(crate) async fn a_file_is_read_by_its_token_until_it_expires(store: &Store) {
    let file = |token: &str, ms| NewFile {
        token: token.to_owned(),
        content_type: "image/png",
        bytes: vec![0, 159, 146, 150],
        expires_at: later(ms),
    };
    let files = vec![file("short", 10), file("long", 1_000)];
    store.store_files(files).await.unwrap();
    let kept = StoredFile {
        content_type: "image/png".to_owned(),
        bytes: vec![0, 159, 146, 150],
    };
    assert_eq!(store.file("short", NOW).await.unwrap(), Some(kept.clone()));
    assert_eq!(store.file("shor", NOW).await.unwrap(), None);
    assert_eq!(store.file("short", later(10)).await.unwrap(), None);
    store.expire(later(10)).await.unwrap();
    assert_eq!(
        store.file("short", NOW).await.unwrap(),
        None,
        "its bytes are deleted"
    );
    assert_eq!(store.file("long", later(10)).await.unwrap(), Some(kept));
}
