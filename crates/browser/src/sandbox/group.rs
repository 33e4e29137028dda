//! Control groups: what the processes of one sandbox may take together. Where the server may not make groups there
//! are none, and each process is limited alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::launcher::Launcher;

/// Folders in which groups can be made, one for each hierarchy; none when there are no groups.
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

/// The groups of one sandbox; removed with this value.
pub(crate) struct Group {
    folders: Vec<PathBuf>,
    launcher: Launcher,
}

/// Every group of ours is called so, with the server's process id behind it.
const PREFIX: &str = "harvestman-";
/// The limit of memory, version 2.
const MEMORY: &str = "memory.max";
const ROOT: &str = "/sys/fs/cgroup";

impl Groups {
    /// Finds out where groups can be made, and removes those of servers that are gone.
    pub(crate) fn detect() -> Groups {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let hierarchies: Vec<Hierarchy> = own.lines().filter_map(hierarchy).collect();
        for hierarchy in &hierarchies {
            hierarchy.sweep();
        }
        Groups { hierarchies }
    }

    /// Whether all of a sandbox's memory and tasks can be limited together.
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
        static MADE: AtomicU64 = AtomicU64::new(0);
        if self.hierarchies.is_empty() {
            return Ok(None);
        }
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let mut group = Group {
            folders: vec![],
            launcher: launcher.clone(),
        };
        for hierarchy in &self.hierarchies {
            let folder = hierarchy.folder.join(&name);
            // A server that had the same process id may have left one, with nobody in it.
            fs::create_dir_all(&folder)?;
            group.folders.push(folder.clone());
            for (file, most) in [(hierarchy.tasks, tasks), (hierarchy.memory, memory_bytes)] {
                if let Some(file) = file {
                    fs::write(folder.join(file), most.to_string())?;
                }
            }
            if hierarchy.memory == Some(MEMORY) {
                // A sandbox has no share in swap; without swap there is no such file.
                let _none = fs::write(folder.join("memory.swap.max"), "0");
            }
        }
        Ok(Some(group))
    }
}

impl Group {
    /// The files that put the process which writes into them into the group.
    pub(crate) fn doors(&self) -> Vec<PathBuf> {
        self.folders
            .iter()
            .map(|folder| folder.join("cgroup.procs"))
            .collect()
    }

    /// Waits until the processes have ended and removes it.
    pub(crate) async fn remove(mut self) {
        let removed = self.launcher.remove(std::mem::take(&mut self.folders));
        let _thread_ended = removed.await;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.folders.is_empty() {
            drop(self.launcher.remove(std::mem::take(&mut self.folders)));
        }
    }
}

/// The hierarchy of a line of `/proc/self/cgroup`: `number:controllers:path`, where version 2 has no controllers.
fn hierarchy(line: &str) -> Option<Hierarchy> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
    if controllers.is_empty() {
        let own = Path::new(ROOT).join(path);
        // A service whose processes are in a group of their own may make groups beside that one.
        let beside = own.parent().filter(|parent| parent.starts_with(ROOT));
        return beside.into_iter().chain([own.as_path()]).find_map(unified);
    }
    let has = |name| controllers.split(',').any(|controller| controller == name);
    let hierarchy = Hierarchy {
        folder: Path::new(ROOT).join(controllers).join(path),
        tasks: has("pids").then_some("pids.max"),
        memory: has("memory").then_some("memory.limit_in_bytes"),
    };
    let of_use = hierarchy.tasks.is_some() || hierarchy.memory.is_some();
    (of_use && hierarchy.works()).then_some(hierarchy)
}

/// A folder of version 2, when its groups can have limits.
fn unified(folder: &Path) -> Option<Hierarchy> {
    let hierarchy = Hierarchy {
        folder: folder.to_owned(),
        tasks: Some("pids.max"),
        memory: Some(MEMORY),
    };
    // It may be so already, or not be allowed; what is made then tells.
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
        // Nobody is in it.
        let _removed = fs::remove_dir(&folder);
        works
    }

    /// Removes what servers left behind that were killed; groups that are not empty stay.
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
