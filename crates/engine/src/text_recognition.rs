//! Text recognition (OCR) in images and scanned pages, by the program `tesseract` behind the trait
//! [`TextRecognizer`]. A separate process reads each image: the server's program limits itself, then becomes
//! tesseract. It gets the image on stdin, writes the text to stdout, and is killed at the deadline. The file reader
//! decides which images there are.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use harvestman_core::api::error::ApiError;
use harvestman_core::crawl::SlotKind;
use harvestman_core::scrape::{FileDocument, FileError, FileRequest, Scan, ScanRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::{Instant, timeout_at};

use crate::file_reader::{FileReader, FileResult};
use crate::limits;
use crate::slots::{SlotOwner, Slots};

/// The command-line argument that turns the server's program into a text recognizer. The path of tesseract and its
/// languages follow.
pub const RECOGNIZE_TEXT_COMMAND: &str = "recognize-text";

/// Why there is no text recognition, as the end of a sentence.
const NO_RECOGNIZER: &str =
    "text recognition is not installed on this server (Debian: `apt install tesseract-ocr`)";
const OUT_OF_TIME: &str = "recognizing it takes longer than the `timeout` of the request";
const FAST: &str = "the mode `fast` reads embedded text only";
const UNREADABLE: &str = "their images cannot be read";
const FAILED: &str = "text recognition failed; see the server log";

/// Settings of text recognition.
#[derive(Clone, Debug)]
pub struct RecognizerConfig {
    /// Program that starts tesseract within limits when called with [`RECOGNIZE_TEXT_COMMAND`].
    pub launcher: PathBuf,
    /// Path of tesseract.
    pub tesseract: PathBuf,
    /// Its languages, such as `eng+deu`.
    pub languages: String,
}

/// Why no text was recognized in an image.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum RecognitionError {
    /// The image is damaged, or takes too much memory or time.
    #[error("the text recognizer cannot read it")]
    Unreadable,
    /// The recognizer does not work.
    #[error("cannot start the text recognizer: {0}")]
    Start(String),
}

/// Recognizes the text in an image.
pub(crate) trait TextRecognizer: Send + Sync {
    /// Returns the text in an image: lines, and paragraphs separated by blank lines.
    ///
    /// # Errors
    /// If the image cannot be read, or the recognizer does not work.
    fn recognize<'a>(&'a self, image: &'a [u8]) -> BoxFuture<'a, Result<String, RecognitionError>>;
}

/// Recognizes text with tesseract.
struct Tesseract(RecognizerConfig);

impl TextRecognizer for Tesseract {
    fn recognize<'a>(&'a self, image: &'a [u8]) -> BoxFuture<'a, Result<String, RecognitionError>> {
        self.run(image).boxed()
    }
}

impl Tesseract {
    async fn run(&self, image: &[u8]) -> Result<String, RecognitionError> {
        let start = |error: std::io::Error| RecognitionError::Start(error.to_string());
        let RecognizerConfig {
            launcher,
            tesseract,
            languages,
        } = &self.0;
        let mut command = Command::new(launcher);
        command.arg(RECOGNIZE_TEXT_COMMAND).arg(tesseract).arg(languages);
        command.env_clear();
        if let Some(folder) = std::env::var_os("TESSDATA_PREFIX") {
            command.env("TESSDATA_PREFIX", folder);
        }
        let mut child = command
            // The server decides how many run at once.
            .env("OMP_THREAD_LIMIT", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(start)?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(RecognitionError::Start("no pipes".to_owned()));
        };
        let sending = async move {
            // A recognizer that gives up early closes its input.
            let _ = stdin.write_all(image).await;
            let _ = stdin.shutdown().await;
        };
        let (mut output, mut message) = (Vec::new(), Vec::new());
        let mut output_pipe = stdout.take(limits::RECOGNIZER_OUTPUT_BYTES);
        let mut message_pipe = stderr.take(limits::RECOGNIZER_MESSAGE_BYTES);
        let ((), read, _) = tokio::join!(
            sending,
            output_pipe.read_to_end(&mut output),
            message_pipe.read_to_end(&mut message)
        );
        read.map_err(start)?;
        let _ = child.start_kill();
        let status = child.wait().await.map_err(start)?;
        // A process that was killed because of its output has still written a useful start.
        if status.success() || output.len() as u64 == limits::RECOGNIZER_OUTPUT_BYTES {
            return Ok(String::from_utf8_lossy(&output).into_owned());
        }
        let message = String::from_utf8_lossy(&message);
        let is_setup = [
            "Error opening data file", "couldn't load any languages", "cannot start",
        ];
        if is_setup.iter().any(|words| message.contains(words)) {
            return Err(RecognitionError::Start(message.trim().to_owned()));
        }
        tracing::debug!(%status, %message, "tesseract cannot read an image");
        Err(RecognitionError::Unreadable)
    }
}

/// Returns the languages of a list such as `eng+deu` that tesseract has no data for.
///
/// # Errors
/// If tesseract does not list its languages; the text says why.
pub async fn missing_languages(tesseract: &Path, languages: &str) -> Result<Vec<String>, String> {
    let mut command = Command::new(tesseract);
    command
        .arg("--list-langs")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = match tokio::time::timeout(limits::RECOGNIZER_LIST_TIMEOUT, command.output()).await {
        Ok(Ok(output)) if output.status.success() => output.stdout,
        Ok(Ok(output)) => return Err(format!("tesseract --list-langs fails ({})", output.status)),
        Ok(Err(error)) => return Err(format!("cannot start tesseract: {error}")),
        Err(_) => return Err("tesseract --list-langs does not finish".to_owned()),
    };
    let installed = String::from_utf8_lossy(&output);
    let is_missing = |language: &&str| !installed.lines().any(|line| line.trim() == *language);
    Ok(languages
        .split('+')
        .filter(is_missing)
        .map(str::to_owned)
        .collect())
}

/// Reads files and recognizes the text of their images, a limited number of images at a time, shared fairly among the
/// teams. Cheap to clone.
#[derive(Clone)]
pub(crate) struct TextRecognition {
    reader: FileReader,
    recognizer: Option<Arc<dyn TextRecognizer>>,
    slots: Slots,
    cores: usize,
}

impl TextRecognition {
    pub(crate) fn new(reader: FileReader, config: Option<RecognizerConfig>, cores: usize) -> Self {
        let tesseract = |config| -> Arc<dyn TextRecognizer> { Arc::new(Tesseract(config)) };
        Self {
            reader,
            recognizer: config.map(tesseract),
            slots: Slots::for_work(cores.max(1)),
            cores: cores.max(1),
        }
    }

    /// Reads a file with the text of its images. Dropping the future ends the programs that it started.
    ///
    /// # Errors
    /// 500 if the reader cannot be started.
    pub(crate) async fn read(
        &self,
        owner: SlotOwner,
        request: &FileRequest,
        body: &[u8],
        deadline: Instant,
    ) -> Result<FileResult, ApiError> {
        Ok(match self.reader.read(owner, request, body).await? {
            Ok(document) => self.complete(document, owner, request, deadline).await,
            Err(error) => Err(error),
        })
    }

    /// Replaces the images of a file with their text; warns of pages whose text stays unknown. Leaves a fifth of the
    /// time until `deadline` for converting the pages that were read.
    ///
    /// # Errors
    /// If the file is a single image that cannot be read.
    async fn complete(
        &self,
        mut file: FileDocument,
        owner: SlotOwner,
        request: &FileRequest,
        deadline: Instant,
    ) -> FileResult {
        let scans = std::mem::take(&mut file.scans);
        let Some(recognizer) = &self.recognizer else {
            file.warn_of_textless(NO_RECOGNIZER);
            return Ok(file);
        };
        if scans.is_empty() {
            file.warn_of_textless(match request.scans {
                ScanRequest::None => FAST,
                ScanRequest::Textless | ScanRequest::All => UNREADABLE,
            });
            return Ok(file);
        }
        let now = Instant::now();
        let stop = now + deadline.saturating_duration_since(now) * 4 / 5;
        let pages: Vec<Vec<Scan>> = scans
            .chunk_by(|a, b| a.page == b.page)
            .map(<[Scan]>::to_vec)
            .collect();
        let reading = pages.into_iter().map(|images| {
            let (recognizer, slots) = (recognizer.clone(), self.slots.clone());
            async move {
                let text = timeout_at(stop, read_page(&*recognizer, &slots, owner, &images)).await;
                (images[0].page, text)
            }
            .boxed()
        });
        let mut reading = stream::iter(reading).buffered(self.cores);
        let mut because = OUT_OF_TIME;
        while let Some((page, text)) = reading.next().await {
            match text {
                Ok(Ok(text)) => file.set_recognized(page, &text),
                Ok(Err(RecognitionError::Unreadable)) if request.file_type.is_image() => {
                    return Err(FileError::Damaged(RecognitionError::Unreadable.to_string()));
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, page, "cannot recognize the text of a page");
                    because = FAILED;
                }
                Err(_) => {}
            }
        }
        drop(reading);
        file.warn_of_textless(because);
        Ok(file)
    }
}

/// Returns the text in the images of a page.
///
/// # Errors
/// If none of them can be read.
async fn read_page(
    recognizer: &dyn TextRecognizer,
    slots: &Slots,
    owner: SlotOwner,
    images: &[Scan],
) -> Result<String, RecognitionError> {
    let mut texts = Vec::new();
    let mut failure = None;
    for image in images {
        let _slot = slots.acquire(owner, SlotKind::Plain).await;
        match recognizer.recognize(&image.data).await {
            Ok(text) => texts.push(text),
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if texts.is_empty() => Err(error),
        _ => Ok(texts.join("\n\n")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use harvestman_core::ids::{JobId, TeamId};
    use uuid::Uuid;

    use super::*;

    /// Records the images in the order in which they are read.
    #[derive(Default)]
    struct Recorder(Mutex<Vec<u8>>);

    impl TextRecognizer for Recorder {
        fn recognize<'a>(&'a self, image: &'a [u8]) -> BoxFuture<'a, Result<String, RecognitionError>> {
            self.0.lock().unwrap().extend(image);
            tokio::task::yield_now().map(|()| Ok(String::new())).boxed()
        }
    }

    #[tokio::test]
    async fn an_image_of_another_team_does_not_wait_for_all_images_of_the_first() {
        let (recorder, slots) = (Recorder::default(), Slots::for_work(1));
        let read = |team, image: u8| {
            let owner = SlotOwner::of_team(TeamId(Uuid::from_u128(team)), JobId(Uuid::from_u128(team)));
            let scan = Scan {
                data: vec![image],
                ..Scan::default()
            };
            let (recorder, slots) = (&recorder, &slots);
            async move { read_page(recorder, slots, owner, &[scan]).await }
        };
        let texts = tokio::join!(read(1, b'a'), read(1, b'b'), read(1, b'c'), read(2, b'd'));
        assert!(texts.0.is_ok() && texts.3.is_ok());
        assert_eq!(*recorder.0.lock().unwrap(), b"adbc");
    }
}
