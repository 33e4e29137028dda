//! Limits of one browser and one page.

use std::time::Duration;

/// Time from the start of the process to its first response.
pub const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Attempts to start a browser that ends before its first response.
pub const START_ATTEMPTS: u32 = 3;
/// How long to wait for the status and messages of a browser that has closed its pipe.
pub const END_TIMEOUT: Duration = Duration::from_secs(1);
/// Last bytes of a browser's standard error that are kept.
pub const MAX_MESSAGES_BYTES: usize = 4096;
/// Niceness of the browser of scrapes, added to the server's own, so that a few pages that need the browser do not slow
/// down the many that do not.
pub const SCRAPE_NICENESS: i32 = 5;
/// Default timeout of a protocol command.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout for closing a page's context; after it, the context stays until the process ends.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Largest protocol message of the browser, in bytes; the largest are screenshots.
pub const MAX_MESSAGE_BYTES: usize = 192 * 1024 * 1024;
/// Queued events of one page; further ones are dropped.
pub const MAX_WAITING_EVENTS: usize = 8_192;
/// Queued commands to the browser; further ones wait.
pub const MAX_WAITING_COMMANDS: usize = 256;
/// Requests of one page that are tracked to detect when it is idle.
pub const MAX_WATCHED_REQUESTS: usize = 4_096;
/// Timeout of `load`; after it, a page whose document has arrived is used as it is.
pub const LOAD_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a page that navigates while it is read is read again.
pub const CONTENT_ATTEMPTS: u32 = 20;
/// A page is idle when it has had no request in flight for this long.
pub const QUIET: Duration = Duration::from_millis(300);
/// How long to wait after `load` for the page to become idle.
pub const QUIET_TIMEOUT: Duration = Duration::from_secs(4);
/// A document is stable when it has not changed for this long.
pub const DOM_QUIET: Duration = Duration::from_millis(150);
/// How long to wait for a stable document; one that keeps changing is used as it is.
pub const DOM_QUIET_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait for the content of a page that shows a placeholder, from `load`.
pub const PLACEHOLDER_TIMEOUT: Duration = Duration::from_secs(10);
/// Same as [`PLACEHOLDER_TIMEOUT`], for a page that may have no more content.
pub const UNSURE_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval at which a page is checked for a placeholder.
pub const PLACEHOLDER_POLL: Duration = Duration::from_millis(250);
/// Documents larger than this many bytes are not checked for placeholders.
pub const PLACEHOLDER_HTML_BYTES: usize = 2 * 1024 * 1024;
/// Part of a page's time that is reserved for the steps after settling.
pub const AFTER_SETTLING: Duration = Duration::from_secs(2);
/// Interval at which a page is checked for an element or condition.
pub const POLL: Duration = Duration::from_millis(50);
/// Pause after an input, before checking whether it started a navigation.
pub const AFTER_INPUT: Duration = Duration::from_millis(60);
/// Maximum HTML of a page, in UTF-16 code units.
pub const MAX_HTML_CHARS: usize = 25 * 1024 * 1024;
/// Maximum height of a full-page screenshot, in CSS pixels.
pub const MAX_PICTURE_HEIGHT: f64 = 16_384.0;
/// Elements clicked by one `click` action with `all`.
pub const MAX_CLICKS: usize = 100;
/// Maximum size of a value of `executeJavascript`, as JSON text in bytes.
pub const MAX_SCRIPT_VALUE_BYTES: usize = 1024 * 1024;
/// Pages after which a browser process is replaced.
pub const PAGES_PER_PROCESS: u32 = 500;
/// Downloads of all browsers that are in memory at once; further ones wait.
pub const DOWNLOADS_AT_ONCE: usize = 4;
/// Browser contexts of clients whose downloads can be cancelled.
pub const MAX_DOWNLOAD_CONTEXTS: usize = 64;
/// How long to wait until a worker has a copy of a file; a worker that cannot read while its code runs gets it later.
pub const FILE_COPY_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of a file in one command to a worker.
pub const FILE_PART_BYTES: usize = 512 * 1024;
/// External clients of one browser at once.
pub const MAX_CLIENTS: usize = 16;
/// Connections to the DevTools endpoint of a session's code at once.
pub const MAX_CDP_CONNECTIONS: usize = 64;
/// Timeout for the request head on that endpoint.
pub const CDP_HEAD_TIME: Duration = Duration::from_secs(10);
/// Largest message of a client, in bytes; the largest are scripts and responses to intercepted requests.
pub const MAX_CLIENT_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
/// Unanswered commands of one client; further ones are rejected.
pub const MAX_CLIENT_COMMANDS: usize = 4_096;
/// Queued bytes of commands of all clients; further commands wait.
pub const MAX_FORWARDED_BYTES: usize = 128 * 1024 * 1024;
/// Sessions of one client: the pages, frames and workers that it is attached to.
pub const MAX_CLIENT_SESSIONS: usize = 1_024;
/// Queued messages for one client; a client that reads more slowly is disconnected.
pub const MAX_CLIENT_QUEUE: usize = 16_384;
/// Queued bytes for one client, in addition to one message that may be larger.
pub const MAX_CLIENT_QUEUE_BYTES: usize = 64 * 1024 * 1024;
/// Timeout for sending one message to a client.
pub const CLIENT_SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a dialog of a live page waits for a viewer or for code before it is dismissed.
pub const DIALOG_TIMEOUT: Duration = Duration::from_secs(1);
/// Time from the creation of a page's target until the page can be used.
pub const ADOPT_TIMEOUT: Duration = Duration::from_secs(5);
/// Origins of one session whose storage is saved.
pub const MAX_STORED_ORIGINS: usize = 64;
/// Maximum size of one storage of one origin, keys and values, in UTF-16 code units; larger storages are
/// omitted.
pub const MAX_STORED_CHARS: usize = 5 * 1024 * 1024;
/// Maximum size of stdout and of stderr of one execution, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// Maximum text of a snapshot, in bytes; further lines are only counted.
pub const SNAPSHOT_BYTES: usize = 512 * 1024;
/// Elements of a snapshot that get a reference.
pub const SNAPSHOT_ELEMENTS: usize = 10_000;
/// Elements of one frame that are clickable although their role does not say so.
pub const SNAPSHOT_CLICKABLE: usize = 200;
/// Nodes of one accessibility tree that are read.
pub const SNAPSHOT_NODES: usize = 100_000;
/// Depth to which an accessibility tree is read.
pub const SNAPSHOT_DEPTH: usize = 600;
/// Maximum indentation level of lines in a snapshot.
pub const SNAPSHOT_INDENTS: usize = 30;
/// Maximum length of a name, value or text in a snapshot, in characters.
pub const SNAPSHOT_NAME_CHARS: usize = 500;
/// Frames of a page included in a snapshot.
pub const SNAPSHOT_FRAMES: usize = 50;
/// Maximum number of words of one command.
pub const COMMAND_WORDS: usize = 256;
/// Default distance of `scroll`, in CSS pixels.
pub const SCROLL_PIXELS: u32 = 300;
/// Maximum length of a URL that is opened, in bytes.
pub const MAX_URL_BYTES: usize = 8192;
/// Default timeout of `wait`.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(25);
/// How long an idle page may take to respond.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a command waits for its element to appear.
pub const ELEMENT_TIMEOUT: Duration = Duration::from_secs(4);
/// How long a snapshot waits for a busy page to become idle.
pub const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);
/// Characters of a page that `read` and `get text` return.
pub const READ_CHARS: usize = 1024 * 1024;
/// JPEG quality of screenshots taken by commands.
pub const SCREENSHOT_QUALITY: u32 = 80;
/// Viewers of one browser at once.
pub const MAX_VIEWERS: usize = 16;
/// Largest picture of a live view, in pixels; larger pages are scaled down.
pub const MAX_FRAME_SIZE: (u32, u32) = (1280, 720);
/// Timeout for starting the screencast of a page.
pub const CAST_TIMEOUT: Duration = Duration::from_secs(2);
/// JPEG quality of live view pictures.
pub const FRAME_QUALITY: u32 = 70;
/// Minimum time between two pictures.
pub const FRAME_INTERVAL: Duration = Duration::from_millis(33);
/// How long the next picture waits for a viewer to take the last one.
pub const FRAME_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval at which tabs and titles are checked.
pub const VIEW_POLL: Duration = Duration::from_millis(250);
/// Maximum time that a dialog waits, even for a viewer who may answer it.
pub const MAX_DIALOG_TIME: Duration = Duration::from_secs(60);
/// Characters of a dialog shown to viewers.
pub const MAX_DIALOG_CHARS: usize = 2_000;
/// Characters of a title shown to viewers.
pub const MAX_TITLE_CHARS: usize = 200;
/// Largest message of a viewer, in bytes; the largest are pasted texts.
pub const MAX_INPUT_BYTES: usize = 1024 * 1024;
/// Maximum length of a key name, in characters.
pub const MAX_KEY_CHARS: usize = 32;
/// Options of a select list shown to a viewer.
pub const MAX_SELECT_OPTIONS: usize = 2_000;
/// How long a mouse press waits to find out whether it is on a select list.
pub const SELECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Characters that can be copied from a page.
pub const MAX_COPIED_CHARS: usize = 1024 * 1024;
/// Tabs shown to viewers.
pub const MAX_TABS_SHOWN: usize = 100;
/// Number of tabs from which viewers cannot open more.
pub const MAX_TABS: usize = 32;
/// Timeout for detecting whether this machine supports sandboxes.
pub const DETECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Memory limit of a live browser, including its files, where the system supports it.
pub const BROWSER_MEMORY_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Limit of processes and threads of a live browser, where the system supports it.
pub const BROWSER_TASKS: u64 = 768;
/// Size limit of the files of a live browser (profile, cache, shared memory), in addition to its downloads.
pub const BROWSER_FILES_BYTES: u64 = 256 * 1024 * 1024;
/// Memory limit of code, including its files, where the system supports it; in any case the limit of each of
/// its processes.
pub const WORKER_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// Limit of processes and threads of code, where the system supports it.
pub const WORKER_TASKS: u64 = 128;
/// Size limit of the files of code, in addition to the files of its session.
pub const WORKER_FILES_BYTES: u64 = 64 * 1024 * 1024;
/// Size of `/dev/shm` in a sandbox.
pub const SHARED_MEMORY_BYTES: u64 = 16 * 1024 * 1024;
/// Open file descriptors of one process in a sandbox.
pub const SANDBOX_DESCRIPTORS: u64 = 4_096;
/// Process limit of the user that starts sandboxes, where there are no control groups.
pub const USER_TASKS: u64 = 4_096;
/// Timeout for removing the control group of a killed sandbox.
pub const GROUP_REMOVAL_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for removing the profile of a killed browser.
pub const PROFILE_REMOVAL_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between attempts to remove what a killed browser leaves.
pub const REMOVAL_INTERVAL: Duration = Duration::from_millis(10);
/// Time from the start of a worker until it can run code.
pub const WORKER_START_TIMEOUT: Duration = Duration::from_secs(20);
/// Largest message of a worker, in bytes; a worker that sends more is killed.
pub const MAX_WORKER_MESSAGE_BYTES: u64 = 16 * 1024 * 1024;
/// Queued messages of a worker; further ones wait.
pub const MAX_WORKER_MESSAGES: usize = 16;
/// How long to wait for the remaining output of a killed worker.
pub const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);
/// A page that responded this recently counts as alive, because a crash would have been reported by now.
pub const ALIVE_TIME: Duration = Duration::from_millis(50);
/// How long code waits for its page to respond before it starts; the page may just be busy.
pub const DEAD_PAGE_TIMEOUT: Duration = Duration::from_millis(250);
/// How long a page may be unresponsive after its code was killed before its script is terminated too.
pub const STOPPED_PAGE_TIMEOUT: Duration = Duration::from_millis(200);
/// How long to wait until a consent tool is recognized on a page that seems to show a banner.
pub const CONSENT_DETECTION: Duration = Duration::from_millis(1500);
/// How long to wait until a recognized banner is answered.
pub const CONSENT_ANSWER: Duration = Duration::from_secs(5);
/// Frames of a page that are searched for a banner.
pub const CONSENT_FRAMES: usize = 8;
