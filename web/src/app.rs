//! The shell around every screen: navigation, bar, banner, the screen itself, and what speaks.

use leptos::prelude::*;
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::path;

use crate::components::dialog::Shortcuts;
use crate::components::nav::Nav;
use crate::components::palette::Palette;
use crate::components::toast::Toast;
use crate::components::top::Top;
use crate::console::{Access, Console};
use crate::pages::activity::ActivityPage;
use crate::pages::ask::AskPage;
use crate::pages::crawl::CrawlPage;
use crate::pages::extract::ExtractPage;
use crate::pages::job::JobPage;
use crate::pages::keys::KeysPage;
use crate::pages::map::MapPage;
use crate::pages::not_found::NotFound;
use crate::pages::overview::Overview;
use crate::pages::scrape::ScrapePage;
use crate::pages::search::SearchPage;
use crate::pages::session::SessionPage;
use crate::pages::sessions::Sessions;
use crate::pages::settings::SettingsPage;
use crate::pages::sign_in::SignIn;
use crate::pages::tools::ToolsPage;
use crate::pages::usage::UsagePage;
use crate::route::BASE;
use crate::{shortcuts, sign_in, text};

/// The whole console.
#[component]
pub fn App() -> impl IntoView {
    let console = Console::provide();
    sign_in::begin(console);
    view! {
        <Router base=BASE>
            <Shell/>
        </Router>
    }
}

#[component]
fn Shell() -> impl IntoView {
    let console = Console::get();
    shortcuts::listen(console);
    let access = Memo::new(move |_| console.access.get());
    view! {
        <a class="skip" href="#main" on:click=to_main>
            {text::SKIP}
        </a>
        <div class="shell">
            <Nav/>
            <div>
                <Top/>
                {move || {
                    console
                        .lost
                        .get()
                        .then(|| {
                            view! {
                                <div class="notice bad banner" role="alert">
                                    <div class="notice-line">
                                        {text::LOST}
                                        <button
                                            class="btn small danger"
                                            on:click=move |_| leptos::task::spawn_local(sign_in::look(console))
                                        >
                                            "Try now"
                                        </button>
                                    </div>
                                </div>
                            }
                        })
                }}
                <main class="page" id="main" tabindex="-1">
                    {move || match access.get() {
                        Access::Checking => view! { <div class="wait" aria-hidden="true"><i></i><i></i><i></i></div> }.into_any(),
                        Access::SignedOut(problem) => view! { <SignIn problem/> }.into_any(),
                        Access::In => view! { <Screens/> }.into_any(),
                    }}
                </main>
            </div>
        </div>
        <Palette/>
        <Toast/>
        <Shortcuts/>
    }
    .into_any()
}

#[component]
fn Screens() -> impl IntoView {
    view! {
        <FlatRoutes fallback=NotFound>
            <Route path=path!("/") view=Overview/>
            <Route path=path!("/scrape") view=ScrapePage/>
            <Route path=path!("/crawl") view=CrawlPage/>
            <Route path=path!("/jobs/:id") view=JobPage/>
            <Route path=path!("/search") view=SearchPage/>
            <Route path=path!("/extract") view=ExtractPage/>
            <Route path=path!("/activity") view=ActivityPage/>
            <Route path=path!("/usage") view=UsagePage/>
            <Route path=path!("/keys") view=KeysPage/>
            <Route path=path!("/ask") view=AskPage/>
            <Route path=path!("/tools") view=ToolsPage/>
            <Route path=path!("/map") view=MapPage/>
            <Route path=path!("/sessions") view=Sessions/>
            <Route path=path!("/sessions/:id") view=SessionPage/>
            <Route path=path!("/settings") view=SettingsPage/>
        </FlatRoutes>
    }
    .into_any()
}

/// Focus moves without a change of the address, which belongs to the router.
fn to_main(event: web_sys::MouseEvent) {
    event.prevent_default();
    crate::browser::focus_soon("#main");
}
