//! Files created for callers.

use harvestman_store::{NewFile, NewUpload, Store, StoredFile, StoredUpload, UploadState, UploadUse, new_id};

use crate::fixtures::{NOW, later};

pub(crate) async fn a_file_is_read_by_its_token_until_it_expires(store: &Store) {
    let file = |token: &str, ms| NewFile {
        token: token.to_owned(),
        content_type: "image/png",
        bytes: vec![0, 159, 146, 150],
        expires_at: later(ms),
    };
    let files = vec![file("short", 10), file("long", 1_000)];
    store.store_files(files, NOW).await.unwrap();
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

pub(crate) async fn an_upload_is_received_once_and_used_once_by_its_team(store: &Store) {
    let team = store.ensure_team("uploads").await.unwrap();
    let other = store.ensure_team("other uploads").await.unwrap();
    let upload = |token: &str, ms| NewUpload {
        id: new_id(),
        token: token.to_owned(),
        team,
        name: "heron.pdf".to_owned(),
        content_type: None,
        expires_at: later(ms),
    };
    let (kept, brief) = (upload("kept", 1_000), upload("brief", 10));
    assert!(store.reserve_upload(&kept, 2, NOW).await.unwrap());
    assert!(store.reserve_upload(&brief, 2, NOW).await.unwrap());
    assert!(
        !store
            .reserve_upload(&upload("third", 1_000), 2, NOW)
            .await
            .unwrap()
    );
    let state = |received| Some(UploadState { team, received });
    assert_eq!(store.upload_state("kept", NOW).await.unwrap(), state(false));
    let used = store.use_upload(team, kept.id, NOW).await.unwrap();
    assert_eq!(used, UploadUse::NotReceived);

    let transfers = (0..4_u8).map(|n| store.receive_upload("kept", vec![n], NOW));
    let received = futures_util::future::join_all(transfers).await;
    assert_eq!(received.into_iter().filter(|it| *it.as_ref().unwrap()).count(), 1);
    assert_eq!(store.upload_state("kept", NOW).await.unwrap(), state(true));
    let used = store.use_upload(other, kept.id, NOW).await.unwrap();
    assert_eq!(used, UploadUse::Unknown);
    let uses = (0..4).map(|_| store.use_upload(team, kept.id, NOW));
    let files: Vec<StoredUpload> = futures_util::future::join_all(uses)
        .await
        .into_iter()
        .filter_map(|used| match used.unwrap() {
            UploadUse::File(file) => Some(file),
            _ => None,
        })
        .collect();
    assert_eq!((files.len(), files[0].name.as_str()), (1, "heron.pdf"));
    assert_eq!(store.upload_state("kept", NOW).await.unwrap(), None);
    assert!(
        store
            .reserve_upload(&upload("fourth", 1_000), 2, NOW)
            .await
            .unwrap()
    );
}
