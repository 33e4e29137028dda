//! Browser profiles: loaded before a browser is used, saved when it is closed, written by one owner at a
//! time.
//!
//! The writers of this node are tracked in memory. A store that other nodes use also records which node writes to a
//! profile; that record ends with the last writer of the node, or with the node.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Weak};

use harvestman_browser::Storage;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::location::Profile;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::interact::SessionError;
use harvestman_store::{Store, StoreError};
use parking_lot::{Mutex, MutexGuard};
use tokio::runtime::Handle;
use tokio::sync::RwLock;
use tokio::time::timeout;
use tracing::Instrument;

use crate::error::{internal_error, is_outage};
use crate::{clock, limits, outage};

/// The writers of each profile. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiles(Arc<Mutex<State>>);

/// Team and name of a profile.
type Key = (TeamId, String);

#[derive(Debug, Default)]
struct State {
    writers: HashMap<Key, Writers>,
    /// Locks of the profiles that are reserved in the store.
    locks: HashMap<Key, Weak<RwLock<()>>>,
}

/// The writers of one profile: a session, a scrape, or the pages of one job, which share what they write.
#[derive(Debug)]
struct Writers {
    owner: JobId,
    count: usize,
}

/// A profile in use.
#[derive(Debug)]
pub(crate) struct OpenProfile {
    team: TeamId,
    name: String,
    /// The state as it was loaded.
    pub(crate) storage: Storage,
    /// `None` if the profile is read-only.
    writer: Option<Writer>,
}

/// The right to write; released on drop.
#[derive(Debug)]
struct Writer {
    profiles: Profiles,
    key: Key,
    /// `None` if no other node uses the store.
    reservation: Option<Reservation>,
}

/// The right of this node to write to a profile, recorded in a store that other nodes use.
#[derive(Debug)]
struct Reservation {
    store: Store,
    /// Shared by all reservations of the profile: locked for reading while one is made, for writing while it is freed.
    lock: Arc<RwLock<()>>,
}

impl Profiles {
    /// Loads the profile that a request names, if any, for the session or job `owner`. A new profile is empty.
    ///
    /// # Errors
    /// 409 while another owner writes to it.
    pub(crate) async fn open(
        &self,
        store: &Store,
        team: TeamId,
        profile: Option<&Profile>,
        owner: JobId,
    ) -> Result<Option<OpenProfile>, ApiError> {
        let Some(profile) = profile else {
            return Ok(None);
        };
        let writer = match profile.save_changes {
            true => Some(self.lock(store, team, &profile.name, owner).await?),
            false => None,
        };
        let stored = store.profile(team, &profile.name).await?;
        let storage = stored.and_then(|state| {
            serde_json::from_str(&state)
                .inspect_err(
                    |error| tracing::warn!(%error, "cannot read a profile; starting with an empty one"),
                )
                .ok()
        });
        Ok(Some(OpenProfile {
            team,
            name: profile.name.clone(),
            storage: storage.unwrap_or_default(),
            writer,
        }))
    }

    /// Reserves the profile on this node, then in the store.
    async fn lock(&self, store: &Store, team: TeamId, name: &str, owner: JobId) -> Result<Writer, ApiError> {
        let mut writer = self.write(team, name, owner)?;
        if !store.is_shared() {
            return Ok(writer);
        }
        writer.reservation = Some(Reservation {
            store: store.clone(),
            lock: self.reservation_lock(&writer.key),
        });
        // If the caller goes away, the writer is dropped only after the store has responded.
        let reserving = tokio::spawn(writer.reserve(owner).in_current_span());
        reserving.await.map_err(internal_error)?
    }

    fn write(&self, team: TeamId, name: &str, owner: JobId) -> Result<Writer, SessionError> {
        let key = (team, name.to_owned());
        match self.state().writers.entry(key.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(Writers { owner, count: 1 });
            }
            Entry::Occupied(mut entry) if entry.get().owner == owner => entry.get_mut().count += 1,
            Entry::Occupied(_) => return Err(SessionError::ProfileBusy(name.to_owned())),
        }
        Ok(Writer {
            profiles: self.clone(),
            key,
            reservation: None,
        })
    }

    fn reservation_lock(&self, key: &Key) -> Arc<RwLock<()>> {
        let mut state = self.state();
        state.locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = state.locks.get(key).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        state.locks.insert(key.clone(), Arc::downgrade(&lock));
        lock
    }

    fn has_writer(&self, key: &Key) -> bool {
        self.state().writers.contains_key(key)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl OpenProfile {
    /// Returns whether changes are saved.
    pub(crate) fn saves(&self) -> bool {
        self.writer.is_some()
    }

    /// Saves the state of a browser, unless the profile is read-only.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) async fn save(&self, store: &Store, storage: Storage) -> Result<(), ApiError> {
        if !self.saves() {
            return Ok(());
        }
        let state = bounded(storage);
        let saving = store.save_profile(self.team, self.name.clone(), state, clock::now());
        if !saving.await? {
            tracing::warn!("cannot save a profile: another node writes to it");
        }
        Ok(())
    }

    /// Saves the state of a browser that is about to close. While the store is unavailable, tries again for
    /// [`limits::PROFILE_RETRY_TIME`], after a while in the background; nobody else can write to the profile until then.
    pub(crate) async fn save_at_end(self, store: Store, storage: Storage) {
        let saving = async move {
            let saving = outage::retry(is_outage, || self.save(&store, storage.clone()));
            match timeout(limits::PROFILE_RETRY_TIME, saving).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::error!(%error, "cannot save a profile; its changes are lost"),
                Err(_) => tracing::error!(
                    "cannot save a profile, because the database was unavailable for too long; its changes are lost"
                ),
            }
        };
        let _later = timeout(
            limits::PROFILE_SAVE_TIMEOUT,
            tokio::spawn(saving.in_current_span()),
        )
        .await;
    }
}

impl Writer {
    /// Reserves the profile in the store.
    async fn reserve(self, owner: JobId) -> Result<Self, ApiError> {
        if let Some(Reservation { store, lock }) = &self.reservation {
            let _reserving = lock.read().await;
            let (team, name) = &self.key;
            if !store.lock_profile(*team, name, owner).await? {
                return Err(SessionError::ProfileBusy(name.clone()).into());
            }
        }
        Ok(self)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Entry::Occupied(mut entry) = self.profiles.state().writers.entry(self.key.clone()) {
            entry.get_mut().count -= 1;
            if entry.get().count > 0 {
                return;
            }
            entry.remove();
        }
        // Even if the store has not confirmed the reservation, it may have made it.
        if let (Some(reservation), Ok(runtime)) = (self.reservation.take(), Handle::try_current()) {
            runtime.spawn(reservation.free(self.profiles.clone(), self.key.clone()));
        }
    }
}

impl Reservation {
    /// Frees the profile in the store. Retries while the store is unavailable.
    async fn free(self, profiles: Profiles, key: Key) {
        let freeing = || self.try_free(&profiles, &key);
        if let Err(error) = outage::retry(StoreError::is_transient, freeing).await {
            tracing::warn!(%error, "cannot free a browser profile");
        }
    }

    async fn try_free(&self, profiles: &Profiles, key: &Key) -> Result<(), StoreError> {
        let _freeing = self.lock.write().await;
        // A new writer of this node takes over the reservation, and its end frees it.
        if profiles.has_writer(key) {
            return Ok(());
        }
        self.store.unlock_profile(key.0, &key.1).await
    }
}

/// Returns the storage as JSON text of at most [`limits::PROFILE_BYTES`]: drops the largest origins first,
/// and cookies last.
fn bounded(mut storage: Storage) -> String {
    loop {
        let state = serde_json::to_string(&storage).unwrap_or_default();
        if state.len() <= limits::PROFILE_BYTES {
            return state;
        }
        let size = |stored: &harvestman_browser::OriginStorage| -> usize {
            let items = stored.local.iter().chain(&stored.session);
            items.map(|(key, value)| key.len() + value.len()).sum()
        };
        let largest = storage.origins.iter().max_by_key(|(_, stored)| size(stored));
        match largest.map(|(origin, _)| origin.clone()) {
            Some(origin) => {
                tracing::warn!(
                    "dropping the largest origin from a profile: the storage exceeds the size limit"
                );
                storage.origins.remove(&origin);
            }
            None => storage.cookies.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use harvestman_browser::OriginStorage;
    use harvestman_core::api::error::ErrorCode;
    use harvestman_store::new_id;
    use tokio_postgres::Client;

    use super::*;
    use crate::test_database::{self, connect, wait_until};

    /// A node of a PostgreSQL database.
    struct Node {
        store: Store,
        profiles: Profiles,
    }

    impl Node {
        async fn start(url: &str) -> Self {
            Self {
                store: test_database::open(url).await,
                profiles: Profiles::default(),
            }
        }

        /// Opens a profile for writing; `None` while another owner writes to it.
        async fn open(&self, team: TeamId, owner: JobId) -> Option<OpenProfile> {
            let profile = Profile {
                name: "shop".to_owned(),
                save_changes: true,
            };
            match self.profiles.open(&self.store, team, Some(&profile), owner).await {
                Ok(profile) => profile,
                Err(error) if error.code == ErrorCode::ProfileBusy => None,
                Err(error) => panic!("cannot open the profile: {error:?}"),
            }
        }
    }

    /// Returns two nodes of a new database, and a connection to it.
    async fn nodes(name: &str) -> ([Node; 2], Client) {
        let url = test_database::create(&format!("profiles_{name}")).await;
        let nodes = [Node::start(&url).await, Node::start(&url).await];
        (nodes, connect(&url).await)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_aborted_open_frees_the_profile_on_postgresql() {
        let ([first, second], client) = nodes("aborted").await;
        let (team, owner, other) = (TeamId(new_id()), JobId(new_id()), JobId(new_id()));
        client
            .batch_execute("BEGIN; LOCK TABLE harvestman.profile_lock")
            .await
            .unwrap();
        let opening = tokio::spawn(async move { first.open(team, owner).await });
        let waits = "EXISTS (SELECT FROM pg_locks WHERE NOT granted
            AND relation = 'harvestman.profile_lock'::regclass)";
        wait_until(&client, waits).await;
        opening.abort();
        assert!(opening.await.unwrap_err().is_cancelled());
        client.batch_execute("COMMIT").await.unwrap();
        let since = Instant::now();
        while second.open(team, other).await.is_none() {
            assert!(
                since.elapsed() < Duration::from_secs(20),
                "the profile stays locked"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn owners_take_turns_on_postgresql() {
        const ROUNDS: usize = 40;
        let (nodes, client) = nodes("turns").await;
        let [first, second] = &nodes;
        let team = TeamId(new_id());
        let writing = Mutex::new(None);
        // An owner writes to the profile in rounds, each time with two pages.
        let write = async |node: &Node, rounds: usize, pause: Duration| {
            let owner = JobId(new_id());
            let (mut done, since) = (0, Instant::now());
            while done < rounds {
                let pages = tokio::join!(node.open(team, owner), node.open(team, owner));
                if pages.0.is_some() || pages.1.is_some() {
                    assert_eq!(writing.lock().replace(owner), None, "one owner at a time");
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    *writing.lock() = None;
                    done += 1;
                }
                drop(pages);
                assert!(
                    since.elapsed() < Duration::from_secs(60),
                    "the profile stays locked"
                );
                tokio::time::sleep(pause).await;
            }
        };
        let pause = Duration::from_millis(3);
        tokio::join!(
            write(first, ROUNDS, Duration::ZERO),
            write(first, 2, pause),
            write(second, 2, pause)
        );
        wait_until(&client, "NOT EXISTS (SELECT FROM harvestman.profile_lock)").await;
        assert!(nodes.iter().all(|node| node.profiles.state().writers.is_empty()));
    }

    #[test]
    fn one_owner_writes_at_a_time() {
        let profiles = Profiles::default();
        let (team, other_team) = (TeamId(new_id()), TeamId(new_id()));
        let (owner, other) = (JobId(new_id()), JobId(new_id()));
        let first = profiles.write(team, "shop", owner).unwrap();
        let second = profiles.write(team, "shop", owner).unwrap();
        let busy = || profiles.write(team, "shop", other).err();
        assert_eq!(busy(), Some(SessionError::ProfileBusy("shop".to_owned())));
        profiles.write(team, "bank", other).unwrap();
        profiles.write(other_team, "shop", other).unwrap();
        drop(first);
        assert!(busy().is_some(), "its owner is still writing");
        drop(second);
        assert_eq!(busy(), None);
        assert!(profiles.state().writers.is_empty());
    }

    #[test]
    fn a_profile_is_bounded() {
        let mut storage = Storage::default();
        for (origin, bytes) in [("https://small", 10), ("https://large", limits::PROFILE_BYTES)] {
            let mut stored = OriginStorage::default();
            stored.local.insert("key".to_owned(), "x".repeat(bytes));
            storage.origins.insert(origin.to_owned(), stored);
        }
        let stored: Storage = serde_json::from_str(&bounded(storage)).unwrap();
        assert_eq!(stored.origins.keys().collect::<Vec<_>>(), ["https://small"]);
    }
}
