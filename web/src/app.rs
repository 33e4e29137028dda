//! The shell around every screen: navigation, top bar, connection banner, the current screen, and the global dialogs
//! and toast. Screens are in `pages/`, their routes in `screens.rs`.

use leptos::prelude::*;
use leptos_router::components::Router;

use crate::components::dialog::Shortcuts;
use crate::components::nav::Nav;
use crate::components::palette::Palette;
use crate::components::toast::Toast;
use crate::components::top_bar::TopBar;
use crate::console::{Access, Console};
use crate::pages::sign_in::SignIn;
use crate::route::BASE;
use crate::screens::Screens;
use crate::{shortcuts, sign_in, text};

/// Renders the whole console.
#[component]
pub fn App() -> impl IntoView {
    let console = Console::provide();
    sign_in::start(console);
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
        <a class="skip" href="#main" on:click=focus_main>
            {text::SKIP}
        </a>
        <div class="shell">
            <Nav/>
            <div>
                <TopBar/>
                {move || {
                    console
                        .disconnected
                        .get()
                        .then(|| {
                            view! {
                                <div class="notice bad banner" role="alert">
                                    <div class="notice-line">
                                        {text::SERVER_UNREACHABLE}
                                        <button
                                            class="btn small danger"
                                            on:click=move |_| leptos::task::spawn_local(sign_in::poll(console))
                                        >
                                            "Retry now"
                                        </button>
                                    </div>
                                </div>
                            }
                        })
                }}
                <main class="page" id="main" tabindex="-1">
                    {move || match access.get() {
                        Access::Checking => view! { <div class="skeleton" aria-hidden="true"><i></i><i></i><i></i></div> }.into_any(),
                        Access::SignedOut(problem) => view! { <SignIn problem/> }.into_any(),
                        Access::Granted => view! { <Screens/> }.into_any(),
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

/// Moves the focus without changing the URL, which the router owns.
fn focus_main(event: web_sys::MouseEvent) {
    event.prevent_default();
    crate::browser::focus_soon("#main");
}
