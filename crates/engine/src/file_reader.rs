//! Reads files (PDF, office documents, books) in a separate process: the server's own program, with memory
//! and time limits, killed at the deadline. So a hostile file harms only its reader. Which files are read is
//! decided elsewhere.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use harvestman_core::api::error::ApiError;
use harvestman_core::crawl::SlotKind;
use harvestman_core::scrape::{FileDocument, FileError, FileRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::limits;
use crate::slots::{SlotOwner, Slots};

/// The command-line argument that turns the server's program into a file reader.
pub const READ_FILE_COMMAND: &str = "read-file";

/// The result of a file reader.
pub type FileResult = Result<FileDocument, FileError>;

/// Starts file readers, a limited number at a time, shared fairly among the teams. Cheap to clone.
#[derive(Clone)]
pub(crate) struct FileReader {
    program: PathBuf,
    slots: Slots,
}

impl FileReader {
    pub(crate) fn new(program: PathBuf, cores: usize) -> Self {
        let slots = Slots::for_work(cores.max(1) * limits::FILE_READERS_PER_CORE);
        Self { program, slots }
    }

    /// Reads a file. Dropping the future kills the reader.
    ///
    /// # Errors
    /// 500 if the reader cannot be started.
    pub(crate) async fn read(
        &self,
        owner: SlotOwner,
        request: &FileRequest,
        body: &[u8],
    ) -> Result<FileResult, ApiError> {
        let _slot = self.slots.acquire(owner, SlotKind::Plain).await;
        let mut child = self.start().map_err(|error| {
            tracing::error!(%error, program = %self.program.display(), "cannot start the file reader");
            ApiError::internal("cannot read the file; see the server log")
        })?;
        let output = exchange(&mut child, request, body).await;
        let _ = child.start_kill();
        let status = child.wait().await.ok();
        let result = output.ok().and_then(|output| parse(&output));
        Ok(result.unwrap_or_else(|| Err(failure(status))))
    }

    fn start(&self) -> std::io::Result<Child> {
        Command::new(&self.program)
            .arg(READ_FILE_COMMAND)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
    }
}

/// Sends the request as one line of JSON, then the file; returns the reader's output.
async fn exchange(child: &mut Child, request: &FileRequest, body: &[u8]) -> std::io::Result<Vec<u8>> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (mut stdin, stdout) = stdin.zip(stdout).ok_or(std::io::ErrorKind::BrokenPipe)?;
    let mut head = serde_json::to_vec(request)?;
    head.push(b'\n');
    let sending = async move {
        stdin.write_all(&head).await?;
        stdin.write_all(body).await?;
        stdin.shutdown().await
    };
    let mut output = Vec::new();
    let mut limited = stdout.take(limits::FILE_READER_OUTPUT_BYTES);
    let (sent, read) = tokio::join!(sending, limited.read_to_end(&mut output));
    read?;
    // A reader may write its result before it has read the whole file.
    if output.is_empty() {
        sent?;
    }
    Ok(output)
}

/// Parses the reader's output: the result as one line of JSON, then the images of its pages. Returns `None` if it is
/// not complete.
fn parse(output: &[u8]) -> Option<FileResult> {
    let end = output
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(output.len());
    let (head, mut rest) = (&output[..end], output.get(end + 1..).unwrap_or_default());
    let mut result: FileResult = serde_json::from_slice(head).ok()?;
    for scan in result.iter_mut().flat_map(|document| &mut document.scans) {
        let (data, after) = rest.split_at_checked(scan.length)?;
        scan.data = data.to_vec();
        rest = after;
    }
    Some(result)
}

fn failure(status: Option<ExitStatus>) -> FileError {
    match status.and_then(|status| status.code()) {
        Some(_) => FileError::Damaged("the file reader failed".to_owned()),
        // Killed by a signal: out of memory, processor time or stack.
        None => FileError::TooLarge("reading it takes more memory or time than allowed".to_owned()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use harvestman_core::api::error::ErrorCode;
    use harvestman_core::ids::{JobId, TeamId};
    use harvestman_core::scrape::{FileType, ScanRequest};
    use uuid::Uuid;

    use super::*;

    const OWNER: SlotOwner = owner(1);
    /// The output of a reader.
    const DOCUMENT: &str = r#"{"Ok":{"pages":[],"total_pages":3,"properties":[],"warnings":[]}}"#;

    const REQUEST: FileRequest = FileRequest {
        scans: ScanRequest::None,
        file_type: FileType::Pdf,
        max_pages: None,
    };

    const fn owner(team: u128) -> SlotOwner {
        SlotOwner::of_team(TeamId(Uuid::from_u128(team)), JobId(Uuid::from_u128(team)))
    }

    /// Returns a file reader that runs this shell script, one at a time.
    #[allow(clippy::unwrap_used, reason = "a failing test should panic")]
    fn reader(name: &str, script: &str) -> FileReader {
        let path = std::env::temp_dir().join(format!("harvestman-reader-{}-{name}", std::process::id()));
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        FileReader::new(path, 1)
    }

    /// Reads a file larger than a pipe's buffer with this shell script as the reader.
    #[allow(clippy::unwrap_used, reason = "a failing test should panic")]
    async fn read_by(name: &str, script: &str) -> Result<FileResult, ApiError> {
        let body = vec![b'x'; 1 << 20];
        let reader = reader(name, script);
        let reading = reader.read(OWNER, &REQUEST, &body);
        let output = tokio::time::timeout(Duration::from_secs(60), reading).await;
        std::fs::remove_file(&reader.program).unwrap();
        output.unwrap()
    }

    #[tokio::test]
    async fn every_way_a_reader_ends_gives_a_result() {
        let good = read_by("good", &format!("cat >/dev/null; echo '{DOCUMENT}'")).await;
        assert_eq!(good.unwrap().unwrap().total_pages, Some(3));
        let hasty = read_by("hasty", &format!("echo '{DOCUMENT}'")).await;
        assert!(hasty.unwrap().is_ok());
        let refused = read_by("refused", "cat >/dev/null; echo '{\"Err\":\"Encrypted\"}'").await;
        assert_eq!(refused.unwrap(), Err(FileError::Encrypted));
        for (name, script) in [
            ("silent", "exit 0"),
            ("failing", "exit 1"),
            ("odd", "cat >/dev/null; echo what"),
        ] {
            let output = read_by(name, script).await.unwrap();
            assert!(matches!(output, Err(FileError::Damaged(_))), "{name}: {output:?}");
        }
        for (name, script) in [
            ("killed", "kill -9 $$"),
            ("aborted", "cat >/dev/null; kill -6 $$"),
        ] {
            let output = read_by(name, script).await.unwrap();
            assert!(
                matches!(output, Err(FileError::TooLarge(_))),
                "{name}: {output:?}"
            );
        }
        let missing = FileReader::new("/nowhere/at/all".into(), 1);
        assert_eq!(
            missing.read(OWNER, &REQUEST, b"").await.unwrap_err().code,
            ErrorCode::Unknown
        );
    }

    #[tokio::test]
    async fn a_file_of_another_team_does_not_wait_for_all_files_of_the_first() {
        let log = std::env::temp_dir().join(format!("harvestman-read-{}", std::process::id()));
        let script = format!("read request; cat >>{}; echo '{DOCUMENT}'", log.display());
        let reader = reader("fair", &script);
        let read = |team, body| reader.read(owner(team), &REQUEST, body);
        let (a, b, c, d) = tokio::join!(read(1, b"a"), read(1, b"b"), read(1, b"c"), read(2, b"d"));
        assert!([a, b, c, d].iter().all(|result| matches!(result, Ok(Ok(_)))));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "adbc");
        for file in [&log, &reader.program] {
            std::fs::remove_file(file).unwrap();
        }
    }
}
