//! Browser profiles: loaded before a browser is used, saved when it is closed, written by one owner at a
//! time.
//!
//! The writers of this node are tracked in memory, and the first one reserves the profile in the store: a server that
//! exits, however it exits, leaves no profile locked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harvestman_browser::Storage;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::location::Profile;
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::interact::SessionError;
use harvestman_store::Store;
use tokio::runtime::Handle;

use crate::{clock, limits};

/// The writers of each profile. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiles(Arc<Mutex<HashMap<(TeamId, String), Writers>>>);

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
    key: (TeamId, String),
    /// The store in which the profile is reserved, and for whom.
    lock: Option<(Store, JobId)>,
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
        let stored = store.profile(team, &profile.name).await;
        let stored = stored?;
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
        if store.is_shared() {
            if !store.lock_profile(team, name, owner).await? {
                return Err(SessionError::ProfileBusy(name.to_owned()).into());
            }
            writer.lock = Some((store.clone(), owner));
        }
        Ok(writer)
    }

    fn write(&self, team: TeamId, name: &str, owner: JobId) -> Result<Writer, SessionError> {
        let key = (team, name.to_owned());
        match self.writers().entry(key.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(Writers { owner, count: 1 });
            }
            Entry::Occupied(mut entry) if entry.get().owner == owner => entry.get_mut().count += 1,
            Entry::Occupied(_) => return Err(SessionError::ProfileBusy(name.to_owned())),
        }
        Ok(Writer {
            profiles: self.clone(),
            key,
            lock: None,
        })
    }

    fn writers(&self) -> MutexGuard<'_, HashMap<(TeamId, String), Writers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        store
            .save_profile(self.team, self.name.clone(), state, clock::now())
            .await
            .map_err(ApiError::from)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut writers = self.profiles.writers();
        if let Entry::Occupied(mut entry) = writers.entry(self.key.clone()) {
            entry.get_mut().count -= 1;
            if entry.get().count == 0 {
                entry.remove();
                if let (Some((store, owner)), Ok(runtime)) = (self.lock.take(), Handle::try_current()) {
                    let (profiles, key) = (self.profiles.clone(), self.key.clone());
                    runtime.spawn(async move {
                        if profiles.writers().contains_key(&key) {
                            // A new writer of this node keeps the reservation.
                            return;
                        }
                        let (team, name) = key;
                        if let Err(error) = store.unlock_profile(team, &name, owner).await {
                            tracing::warn!(%error, "cannot free a browser profile");
                        }
                    });
                }
            }
        }
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
    use harvestman_browser::OriginStorage;
    use harvestman_store::new_id;

    use super::*;

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
        assert!(profiles.writers().is_empty());
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
