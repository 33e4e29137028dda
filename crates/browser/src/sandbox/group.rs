//! Control groups: the total resource limits of the processes of one sandbox. If the server may not create
//! groups, there are none, and only limits of single processes apply.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::launcher::Launcher;

/// Folders in which groups can be created, one per hierarchy; empty if there are no groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    hierarchies: Vec<Hierarchy>,
}

#[derive(Clone, Debug)]
struct Hierarchy {
    folder: PathBuf,
    tasks: Option<&'static str>,
    memory: Option<&'static str>,
}

/// The groups of one sandbox; removed on drop.
pub(crate) struct Group {
    folders: Vec<PathBuf>,
    launcher: Launcher,
}

/// Name prefix of all groups of this program; the server's process id follows.
const PREFIX: &str = "harvestman-";
/// File of the memory limit in cgroup version 2.
const MEMORY: &str = "memory.max";
const ROOT: &str = "/sys/fs/cgroup";

impl Groups {
    /// Finds out where groups can be created, and removes groups of servers that have ended.
    pub(crate) fn detect() -> Groups {
        let own_groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let hierarchies: Vec<Hierarchy> = own_groups.lines().filter_map(hierarchy).collect();
        for hierarchy in &hierarchies {
            hierarchy.sweep();
        }
        Groups { hierarchies }
    }

    /// Returns whether both total memory and number of tasks of a sandbox can be limited.
    pub(crate) fn complete(&self) -> bool {
        let all = &self.hierarchies;
        all.iter().any(|one| one.tasks.is_some()) && all.iter().any(|one| one.memory.is_some())
    }

    pub(crate) fn make(
        &self,
        launcher: &Launcher,
        memory_bytes: u64,
        tasks: u64,
    ) -> io::Result<Option<Group>> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        if self.hierarchies.is_empty() {
            return Ok(None);
        }
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let mut group = Group {
            folders: vec![],
            launcher: launcher.clone(),
        };
        for hierarchy in &self.hierarchies {
            let folder = hierarchy.folder.join(&name);
            // A server that had the same process id may have left an empty group.
            fs::create_dir_all(&folder)?;
            group.folders.push(folder.clone());
            for (file, limit) in [(hierarchy.tasks, tasks), (hierarchy.memory, memory_bytes)] {
                if let Some(file) = file {
                    fs::write(folder.join(file), limit.to_string())?;
                }
            }
            if hierarchy.memory == Some(MEMORY) {
                // Sandboxes get no swap; without swap there is no such file.
                let _none = fs::write(folder.join("memory.swap.max"), "0");
            }
        }
        Ok(Some(group))
    }
}

impl Group {
    /// Returns the `cgroup.procs` files: a process that writes to them joins the groups.
    pub(crate) fn procs_files(&self) -> Vec<PathBuf> {
        self.folders
            .iter()
            .map(|folder| folder.join("cgroup.procs"))
            .collect()
    }

    /// Waits until the processes have ended and removes the groups.
    pub(crate) async fn remove(mut self) {
        let removed = self.launcher.remove(std::mem::take(&mut self.folders));
        let _ignored = removed.await;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.folders.is_empty() {
            drop(self.launcher.remove(std::mem::take(&mut self.folders)));
        }
    }
}

/// Parses a line of `/proc/self/cgroup`: `number:controllers:path`; version 2 has no controllers.
fn hierarchy(line: &str) -> Option<Hierarchy> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
    if controllers.is_empty() {
        let own = Path::new(ROOT).join(path);
        // A service whose processes are in a subgroup may create groups next to that one.
        let siblings = own.parent().filter(|parent| parent.starts_with(ROOT));
        return siblings.into_iter().chain([own.as_path()]).find_map(unified);
    }
    let has = |name| controllers.split(',').any(|controller| controller == name);
    let hierarchy = Hierarchy {
        folder: Path::new(ROOT).join(controllers).join(path),
        tasks: has("pids").then_some("pids.max"),
        memory: has("memory").then_some("memory.limit_in_bytes"),
    };
    let is_useful = hierarchy.tasks.is_some() || hierarchy.memory.is_some();
    (is_useful && hierarchy.works()).then_some(hierarchy)
}

/// Returns a version 2 folder if groups in it can have limits.
fn unified(folder: &Path) -> Option<Hierarchy> {
    let hierarchy = Hierarchy {
        folder: folder.to_owned(),
        tasks: Some("pids.max"),
        memory: Some(MEMORY),
    };
    // The controllers may already be enabled, or it may not be allowed; `works` finds out.
    let _known = fs::write(folder.join("cgroup.subtree_control"), "+memory +pids");
    hierarchy.works().then_some(hierarchy)
}

impl Hierarchy {
    fn works(&self) -> bool {
        let folder = self.folder.join(format!("{PREFIX}{}-try", std::process::id()));
        if fs::create_dir(&folder).is_err() {
            return false;
        }
        let wanted = [self.tasks, self.memory, Some("cgroup.procs")];
        let mut files = wanted.into_iter().flatten();
        let works = files.all(|file| fs::OpenOptions::new().write(true).open(folder.join(file)).is_ok());
        // The group is empty.
        let _removed = fs::remove_dir(&folder);
        works
    }

    /// Removes groups left by killed servers; groups with processes stay.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let server = name
                .to_str()
                .and_then(|name| name.strip_prefix(PREFIX))
                .and_then(|rest| rest.split('-').next());
            if server.is_some_and(|id| !Path::new("/proc").join(id).exists()) {
                let _removed = fs::remove_dir(entry.path());
            }
        }
    }
}
