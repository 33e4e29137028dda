//! Routes of the console, and its code splitting. The overview is in the initial download; the other screens are in
//! three chunks that are fetched when one of their screens is first opened, or prefetched after the first screen is
//! shown. Without the feature `split` everything is one program and nothing is fetched.

use leptos::prelude::*;
use leptos_router::components::{FlatRoutes, Route};
use leptos_router::{ChooseView, path};

use crate::components::screen_header::ScreenHeader;
use crate::pages::activity::ActivityPage;
use crate::pages::agent::AgentPage;
use crate::pages::ask::AskPage;
use crate::pages::batch::BatchPage;
use crate::pages::crawl::CrawlPage;
use crate::pages::extract::ExtractPage;
use crate::pages::job::JobPage;
use crate::pages::keys::KeysPage;
use crate::pages::map::MapPage;
use crate::pages::monitor::MonitorPage;
use crate::pages::monitors::MonitorsPage;
use crate::pages::not_found::NotFound;
use crate::pages::overview::Overview;
use crate::pages::parse::ParsePage;
use crate::pages::scrape::ScrapePage;
use crate::pages::search::SearchPage;
use crate::pages::session::SessionPage;
use crate::pages::sessions::SessionsPage;
use crate::pages::settings::SettingsPage;
use crate::pages::tools::ToolsPage;
use crate::pages::usage::UsagePage;
use crate::text;

/// Renders the screen of the current URL.
#[component]
pub fn Screens() -> impl IntoView {
    #[cfg(feature = "split")]
    leptos::task::spawn_local(prefetch());
    view! {
        <FlatRoutes fallback=NotFound>
            <Route path=path!("/") view=Overview/>
            <Route path=path!("/scrape") view=Form::Scrape/>
            <Route path=path!("/crawl") view=Form::Crawl/>
            <Route path=path!("/batch") view=Form::Batch/>
            <Route path=path!("/map") view=Form::Map/>
            <Route path=path!("/search") view=Form::Search/>
            <Route path=path!("/extract") view=Form::Extract/>
            <Route path=path!("/parse") view=Form::Parse/>
            <Route path=path!("/agent") view=Form::Agent/>
            <Route path=path!("/jobs/:id") view=Live::Job/>
            <Route path=path!("/monitors") view=Live::Monitors/>
            <Route path=path!("/monitors/:id") view=Live::Monitor/>
            <Route path=path!("/sessions") view=Live::Sessions/>
            <Route path=path!("/sessions/:id") view=Live::Session/>
            <Route path=path!("/activity") view=Team::Activity/>
            <Route path=path!("/usage") view=Team::Usage/>
            <Route path=path!("/keys") view=Team::Keys/>
            <Route path=path!("/ask") view=Team::Ask/>
            <Route path=path!("/tools") view=Team::Tools/>
            <Route path=path!("/settings") view=Team::Settings/>
        </FlatRoutes>
    }
    .into_any()
}

/// A chunk could not be fetched.
struct ChunkNotFetched;

#[cfg(feature = "split")]
impl From<leptos::wasm_split::SplitLoaderError> for ChunkNotFetched {
    fn from(_: leptos::wasm_split::SplitLoaderError) -> Self {
        ChunkNotFetched
    }
}

/// Defines a chunk: the function that renders its screens, the one that prefetches it, and an enum of its screens.
macro_rules! chunk {
    ($show:ident, $fetch:ident, $chunk:ident { $($name:ident: $page:ident),+ }) => {
        #[derive(Clone, Copy)]
        enum $chunk { $($name),+ }

        #[cfg_attr(
            feature = "split",
            leptos::wasm_split::wasm_split($show, wasm_split_path = leptos::wasm_split, fallible, preload($fetch))
        )]
        fn $show(page: $chunk) -> Result<AnyView, ChunkNotFetched> {
            Ok(match page { $($chunk::$name => view! { <$page/> }.into_any()),+ })
        }

        impl ChooseView for $chunk {
            async fn choose(self) -> AnyView {
                let view_result = $show(self);
                #[cfg(feature = "split")]
                let view_result = view_result.await;
                view_result.unwrap_or_else(|ChunkNotFetched| view! { <ChunkError/> }.into_any())
            }

            async fn preload(&self) {}
        }
    };
}

chunk!(
    forms,
    fetch_forms,
    Form {
        Scrape: ScrapePage,
        Crawl: CrawlPage,
        Batch: BatchPage,
        Map: MapPage,
        Search: SearchPage,
        Extract: ExtractPage,
        Parse: ParsePage,
        Agent: AgentPage
    }
);
chunk!(
    live,
    fetch_live,
    Live {
        Job: JobPage,
        Monitors: MonitorsPage,
        Monitor: MonitorPage,
        Sessions: SessionsPage,
        Session: SessionPage
    }
);
chunk!(
    team,
    fetch_team,
    Team {
        Activity: ActivityPage,
        Usage: UsagePage,
        Keys: KeysPage,
        Ask: AskPage,
        Tools: ToolsPage,
        Settings: SettingsPage
    }
);

/// Prefetches the chunks; one that fails is fetched when it is needed.
#[cfg(feature = "split")]
async fn prefetch() {
    crate::browser::sleep(crate::limits::PREFETCH_DELAY_MS).await;
    _ = fetch_forms().await;
    _ = fetch_live().await;
    _ = fetch_team().await;
}

/// Renders the replacement of a screen whose chunk could not be fetched because the server is down or was updated.
#[component]
fn ChunkError() -> impl IntoView {
    let reload = |_| _ = window().location().reload();
    view! {
        <ScreenHeader title=text::CHUNK_FAILED.to_owned() intro=|| view! { <p>{text::CHUNK_FAILED_TEXT}</p> }/>
        <button class="btn" on:click=reload>
            "Reload page"
        </button>
    }
}
