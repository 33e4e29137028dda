//! Programs in process groups of their own, which end with the task that started them: a signal that ends the task ends
//! each group.

use std::{
    io,
    ops::{Deref, DerefMut},
    os::unix::process::CommandExt,
    process::{Child, Command},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use anyhow::Result;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

/// How long the programs and the task may take to end.
const LIMIT: Duration = Duration::from_secs(5);

/// The running groups; `None` once a signal has ended them.
static GROUPS: Mutex<Option<Vec<Pid>>> = Mutex::new(Some(Vec::new()));

/// A program whose descendants are in its process group.
pub(crate) struct Group(Child);

/// Ends all groups when a signal ends this process.
pub(crate) fn end_on_signal() -> Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    thread::spawn(move || {
        let signal = signals.forever().next().unwrap_or(SIGTERM);
        let running = groups().take().unwrap_or_default();
        for how in [Signal::TERM, Signal::KILL] {
            for group in &running {
                kill_process_group(*group, how).ok();
            }
            // The task ends because its programs have, and cleans up.
            thread::sleep(LIMIT);
        }
        std::process::exit(128 + signal);
    });
    Ok(())
}

/// Starts a program in a group of its own.
///
/// # Errors
/// A program that cannot start, and every program after a signal.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Group> {
    let mut groups = groups();
    let Some(running) = &mut *groups else {
        return Err(io::Error::other("the task was ended by a signal"));
    };
    let child = command.process_group(0).spawn()?;
    running.push(Pid::from_child(&child));
    Ok(Group(child))
}

impl Drop for Group {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.0);
        if let Some(running) = &mut *groups() {
            running.retain(|other| *other != group);
        }
    }
}

impl Deref for Group {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Group {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

fn groups() -> MutexGuard<'static, Option<Vec<Pid>>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Read},
        process::Stdio,
    };

    use rustix::process::kill_process;

    use super::*;

    /// Set for the process that plays the task.
    const IS_TASK: &str = "HARVESTMAN_TEST_IS_TASK";

    #[test]
    fn programs_and_their_children_end_with_a_task_that_is_ended() {
        if std::env::var_os(IS_TASK).is_some() {
            end_on_signal().unwrap();
            let script = "(sleep 30; echo survived) & echo started; wait; echo survived";
            let mut program = spawn(Command::new("sh").args(["-c", script])).unwrap();
            program.wait().unwrap();
            assert!(spawn(&mut Command::new("true")).is_err());
            return;
        }
        let mut task = Command::new(std::env::current_exe().unwrap())
            .args(["programs_and_their_children", "--nocapture"])
            .env(IS_TASK, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(task.stdout.take().unwrap());
        let mut line = String::new();
        while line != "started\n" {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the task ends too early");
        }
        kill_process(Pid::from_child(&task), Signal::TERM).unwrap();
        // The output ends when every program that could write to it has ended.
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        assert!(!rest.contains("survived"), "{rest}");
        assert!(task.wait().unwrap().success(), "{rest}");
    }
}
