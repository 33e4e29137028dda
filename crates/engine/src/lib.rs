//! Runs jobs. The engine drives the pure core: it fetches, commits batches to the store, and starts what the
//! core asks for. It contains no HTTP routes and no SQL. Start reading at `engine.rs`, then `scheduler.rs`
//! and `driver.rs`.

mod batch;
mod browser_pages;
mod budget;
mod changes;
mod clock;
mod conversions;
mod crawl_prompt;
mod docs;
mod driver;
mod driver_signals;
mod engine;
mod expiry;
mod file_reader;
mod files;
mod health;
mod host_memory;
mod job_request;
pub mod limits;
mod llm;
mod map;
mod model_answers;
mod model_formats;
mod new_job;
mod page_cache;
mod page_metrics;
mod plans;
mod profiles;
mod prompt;
mod runs;
mod scheduler;
mod scraper;
mod search;
mod sessions;
mod single;
mod site_files;
mod site_response;
mod slots;
mod tracking;
mod turn;
mod usage;
mod webhooks;

pub use browser_pages::{BrowserPages, BrowserSettings};
pub use clock::{new_job_id, now};
pub use engine::{Engine, EngineConfig, UploadedFile};
pub use file_reader::{FileResult, READ_FILE_COMMAND};
pub use llm::{Llm, LlmConfig};
pub use page_metrics::PageMetrics;
pub use plans::{Limits, Plans};
pub use search::{Search, SearchConfig, SearchProvider};
pub use sessions::{SessionHandle, SessionOverview, TokenAccess};
