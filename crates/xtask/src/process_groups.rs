//! Programs in process groups of their own, which end with the task that started them: a signal that ends the task ends
//! each group.

use std::{
    io, mem,
    ops::{Deref, DerefMut},
    os::unix::process::CommandExt,
    process::{Child, Command, Output},
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

static GROUPS: Mutex<Groups> = Mutex::new(Groups::Off);

enum Groups {
    /// No task ends groups: programs stay in the group of the task, which the terminal signals.
    Off,
    Running(Vec<Pid>),
    /// A signal has ended them.
    Ended,
}

/// A program whose descendants are in its process group.
pub(crate) struct Group {
    program: Child,
    entry: Option<Entry>,
}

/// The entry of a group in [`GROUPS`].
struct Entry(Pid);

/// Ends all groups when a signal ends this process.
pub(crate) fn end_on_signal() -> Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    *groups() = Groups::Running(Vec::new());
    thread::spawn(move || {
        let signal = signals.forever().next().unwrap_or(SIGTERM);
        let Groups::Running(running) = mem::replace(&mut *groups(), Groups::Ended) else {
            return;
        };
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

/// Starts a program in a group of its own, if the task ends groups.
///
/// # Errors
/// A program that cannot start, and every program after a signal.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Group> {
    match &mut *groups() {
        Groups::Off => Ok(Group {
            program: command.spawn()?,
            entry: None,
        }),
        Groups::Running(running) => {
            let program = command.process_group(0).spawn()?;
            let group = Pid::from_child(&program);
            running.push(group);
            Ok(Group {
                program,
                entry: Some(Entry(group)),
            })
        }
        Groups::Ended => Err(io::Error::other("the task was ended by a signal")),
    }
}

impl Group {
    /// Waits for the end of the program, and returns its piped output.
    ///
    /// # Errors
    /// The output cannot be read.
    pub(crate) fn output(self) -> io::Result<Output> {
        let Group { program, entry } = self;
        let output = program.wait_with_output();
        drop(entry);
        output
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Groups::Running(running) = &mut *groups() {
            running.retain(|other| *other != self.0);
        }
    }
}

impl Deref for Group {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.program
    }
}

impl DerefMut for Group {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.program
    }
}

fn groups() -> MutexGuard<'static, Groups> {
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
    use crate::run;

    /// Set for the process that plays the task.
    const IS_TASK: &str = "HARVESTMAN_TEST_IS_TASK";

    #[test]
    fn programs_and_their_children_end_with_a_task_that_is_ended() {
        if std::env::var_os(IS_TASK).is_some() {
            end_on_signal().unwrap();
            let script = "(sleep 30; echo survived) & echo started; wait; echo survived";
            assert!(run::run(Command::new("sh").args(["-c", script])).is_err());
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
