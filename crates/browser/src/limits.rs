//! Bounds on what one browser and one page may cost.

use std::time::Duration;

/// From the start of the process to its first answer.
pub const START_TIMEOUT: Duration = Duration::from_secs(20);
/// One command of the protocol, unless it says otherwise.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);
/// Closing a page's context before it is given up to the end of the process.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// One message of the protocol: the largest are pictures.
pub const MAX_MESSAGE_BYTES: usize = 192 * 1024 * 1024;
/// Events of one page not yet looked at; further ones are lost.
pub const MAX_WAITING_EVENTS: usize = 8_192;
/// Commands on their way to the browser; further ones wait.
pub const MAX_WAITING_COMMANDS: usize = 256;
/// Requests of one page that are watched for quiet.
pub const MAX_WATCHED_REQUESTS: usize = 4_096;
/// Wait for `load`; a page whose document is there by then is taken as it is.
pub const LOAD_TIMEOUT: Duration = Duration::from_secs(20);
/// No request in flight for so long: the page is at rest.
pub const QUIET: Duration = Duration::from_millis(300);
/// Wait for rest after `load`.
pub const QUIET_TIMEOUT: Duration = Duration::from_secs(4);
/// No change of the document for so long: it is at rest.
pub const DOM_QUIET: Duration = Duration::from_millis(150);
/// Wait for the document to be at rest; one that changes all the time is taken as it is.
pub const DOM_QUIET_TIMEOUT: Duration = Duration::from_secs(2);
/// Wait for the content of a page that shows a placeholder, from `load`.
pub const PLACEHOLDER_TIMEOUT: Duration = Duration::from_secs(10);
/// The same of a page that may have no more to show.
pub const UNSURE_TIMEOUT: Duration = Duration::from_secs(5);
/// Between two looks at a placeholder.
pub const PLACEHOLDER_POLL: Duration = Duration::from_millis(250);
/// Larger documents are not looked at for placeholders, bytes.
pub const PLACEHOLDER_HTML_BYTES: usize = 2 * 1024 * 1024;
/// Left of the time of a page for what comes after it has settled.
pub const AFTER_SETTLING: Duration = Duration::from_secs(2);
/// Between two looks for an element.
pub const POLL: Duration = Duration::from_millis(50);
/// After an input, until it is looked whether a navigation began.
pub const AFTER_INPUT: Duration = Duration::from_millis(60);
/// HTML taken from a page, in UTF-16 code units.
pub const MAX_HTML_CHARS: usize = 25 * 1024 * 1024;
/// Height of a picture of the whole page, CSS pixels.
pub const MAX_PICTURE_HEIGHT: f64 = 16_384.0;
/// Elements clicked by one `click` with `all`.
pub const MAX_CLICKS: usize = 100;
/// JSON text of one value of `executeJavascript`.
pub const MAX_SCRIPT_VALUE_BYTES: usize = 1024 * 1024;
/// Pages after which a browser process is replaced.
pub const PAGES_PER_PROCESS: u32 = 500;
/// Clients from outside on one browser at once.
pub const MAX_CLIENTS: usize = 16;
/// Connections at once to the address where code finds its browser.
pub const MAX_CDP_CONNECTIONS: usize = 64;
/// Time for the head of a request there.
pub const CDP_HEAD_TIME: Duration = Duration::from_secs(10);
/// One message of a client; the largest are scripts and answers to requests that it holds back.
pub const MAX_CLIENT_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
/// Commands of one client that the browser has not answered; further ones are refused.
pub const MAX_CLIENT_COMMANDS: usize = 4_096;
/// Bytes of commands of all clients on their way to the browser; further commands wait.
pub const MAX_FORWARDED_BYTES: usize = 128 * 1024 * 1024;
/// Sessions of one client: pages, frames and workers it is attached to.
pub const MAX_CLIENT_SESSIONS: usize = 1_024;
/// Messages on their way to one client; one that reads more slowly is let go.
pub const MAX_CLIENT_QUEUE: usize = 16_384;
/// Bytes of them, beside one message that may be larger.
pub const MAX_CLIENT_QUEUE_BYTES: usize = 64 * 1024 * 1024;
/// Time in which a client takes one message.
pub const CLIENT_SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// A dialog of a live page waits so long for a viewer or for code before it is dismissed.
pub const DIALOG_PATIENCE: Duration = Duration::from_secs(1);
/// From the target of a new page to a page that can be used.
pub const ADOPT_TIMEOUT: Duration = Duration::from_secs(5);
/// Origins of one session whose storage is kept.
pub const MAX_STORED_ORIGINS: usize = 64;
/// Keys and values of one storage of one origin, UTF-16 code units; larger storages are left out.
pub const MAX_STORED_CHARS: usize = 5 * 1024 * 1024;
/// stdout and stderr of one execution, each.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// Text of a snapshot, in bytes; lines beyond it are counted.
pub const SNAPSHOT_BYTES: usize = 512 * 1024;
/// Elements of a snapshot that have a reference.
pub const SNAPSHOT_ELEMENTS: usize = 10_000;
/// Elements of one frame that can be clicked though their roles do not say so.
pub const SNAPSHOT_CLICKABLE: usize = 200;
/// Nodes of one accessibility tree that are looked at.
pub const SNAPSHOT_NODES: usize = 100_000;
/// Depth to which the accessibility tree is read.
pub const SNAPSHOT_DEPTH: usize = 600;
/// Depth up to which lines of a snapshot are indented.
pub const SNAPSHOT_INDENTS: usize = 30;
/// Characters of one name, value or text in a snapshot.
pub const SNAPSHOT_NAME_CHARS: usize = 500;
/// Frames of a page that a snapshot holds.
pub const SNAPSHOT_FRAMES: usize = 50;
/// Words of one command.
pub const COMMAND_WORDS: usize = 256;
/// Pixels of a `scroll` that names none.
pub const SCROLL_PIXELS: u32 = 300;
/// Bytes of an address that is opened.
pub const MAX_ADDRESS_BYTES: usize = 8192;
/// What `wait` waits for when it names no time.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(25);
/// How long a page may take to answer when it is not busy.
pub const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a command looks for its element before it says that there is none.
pub const ELEMENT_TIMEOUT: Duration = Duration::from_secs(4);
/// What a snapshot waits for a busy page to come to rest.
pub const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);
/// Characters of a page that `read` and `get text` give.
pub const READ_CHARS: usize = 1024 * 1024;
/// Quality of a JPEG that a command takes.
pub const SCREENSHOT_QUALITY: u32 = 80;
/// Viewers of one browser at once.
pub const MAX_VIEWERS: usize = 16;
/// Largest picture of a live view, pixels; larger pages are scaled down.
pub const MAX_FRAME_SIZE: (u32, u32) = (1280, 720);
/// From the choice of a page to the start of its pictures.
pub const CAST_TIMEOUT: Duration = Duration::from_secs(2);
/// JPEG quality of it.
pub const FRAME_QUALITY: u32 = 70;
/// Least time between two pictures.
pub const FRAME_INTERVAL: Duration = Duration::from_millis(33);
/// How long the next picture waits for somebody to take the last one.
pub const FRAME_PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks for tabs and titles.
pub const VIEW_LOOK: Duration = Duration::from_millis(250);
/// A dialog waits no longer than this, even for a viewer who may answer it.
pub const DIALOG_LONGEST: Duration = Duration::from_secs(60);
/// Characters of a dialog that are shown.
pub const MAX_DIALOG_CHARS: usize = 2_000;
/// Characters of a title that are shown.
pub const MAX_TITLE_CHARS: usize = 200;
/// One message of a viewer, bytes: the longest is a pasted text.
pub const MAX_INPUT_BYTES: usize = 1024 * 1024;
/// Characters of the name of a key.
pub const MAX_KEY_CHARS: usize = 32;
/// Options of a select list that a viewer is shown.
pub const MAX_SELECT_OPTIONS: usize = 2_000;
/// How long a press waits to learn whether it is on a select list.
pub const SELECT_PATIENCE: Duration = Duration::from_millis(500);
/// Characters that are copied from a page.
pub const MAX_COPIED_CHARS: usize = 1024 * 1024;
/// Tabs that viewers are shown.
pub const MAX_TABS_SHOWN: usize = 100;
/// Tabs above which a viewer opens no more.
pub const MAX_TABS: usize = 32;
/// Looking whether this machine can sandbox.
pub const DETECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Memory of a live browser, its files included, where the system can limit it.
pub const BROWSER_MEMORY_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Processes and threads of a live browser, likewise.
pub const BROWSER_TASKS: u64 = 768;
/// Files of a live browser: profile, cache, shared memory.
pub const BROWSER_FILES_BYTES: u64 = 256 * 1024 * 1024;
/// Memory of code and of its files, where the system can limit it; of one process of it in any case.
pub const WORKER_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// Processes and threads of code, where the system can limit them.
pub const WORKER_TASKS: u64 = 128;
/// Files of code.
pub const WORKER_FILES_BYTES: u64 = 64 * 1024 * 1024;
/// `/dev/shm` in a sandbox.
pub const SHARED_MEMORY_BYTES: u64 = 16 * 1024 * 1024;
/// Open descriptors of one process in a sandbox.
pub const SANDBOX_DESCRIPTORS: u64 = 4_096;
/// Processes of a user that starts sandboxes, where there are no control groups.
pub const USER_TASKS: u64 = 4_096;
/// Removing the control group of a sandbox that was killed.
pub const GROUP_REMOVAL_TIMEOUT: Duration = Duration::from_secs(5);
/// From the start of a worker until it can run code.
pub const WORKER_START_TIMEOUT: Duration = Duration::from_secs(20);
/// One message of a worker; a worker that says more at once is let go.
pub const MAX_WORKER_MESSAGE_BYTES: u64 = 16 * 1024 * 1024;
/// Messages of a worker not yet looked at; then it waits.
pub const MAX_WORKER_WORDS: usize = 16;
/// What a worker wrote before it was killed is waited for so long.
pub const LAST_WORDS_TIMEOUT: Duration = Duration::from_millis(200);
/// A page that answered so lately is alive: of a crash it would have been heard by now.
pub const ALIVE_TIME: Duration = Duration::from_millis(50);
/// How long code waits for a page to answer before it is run; a page may be busy.
pub const DEAD_PAGE_TIMEOUT: Duration = Duration::from_millis(250);
/// A page that does not answer for so long after its code was stopped has its script stopped, too.
pub const STOPPED_PAGE_TIMEOUT: Duration = Duration::from_millis(200);
