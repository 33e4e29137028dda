//! What is wrong with a request, above its form, in the API's own words; each problem leads to its
//! field.

use leptos::prelude::*;

use crate::browser;
use crate::components::field::field_id;
use crate::draft::Draft;

/// Shows the summary once the user asked to send, or the server refused.
#[component]
pub fn Problems(draft: Draft) -> impl IntoView {
    let error = move || {
        let refused = draft.refused.get();
        let core = draft
            .asked
            .get()
            .then(|| draft.checked.with(|checked| checked.as_ref().err().cloned()));
        refused.or(core.flatten())
    };
    move || {
        error().map(|error| {
            let problems = crate::draft::problems_of(&error);
            let list = (!problems.is_empty()).then(|| {
                let items = problems.into_iter().map(|problem| {
                    let path = problem.path.clone();
                    let go = move |event: web_sys::MouseEvent| {
                        event.prevent_default();
                        show(&path);
                    };
                    view! {
                        <li>
                            <a href=format!("#{}", field_id(&problem.path)) on:click=go>
                                <code>{problem.path.clone()}</code>
                            </a>
                            " "
                            {problem.message}
                        </li>
                    }
                });
                view! { <ul>{items.collect_view()}</ul> }
            });
            let sentence = list.is_none().then(|| error.message.clone());
            view! {
                <div class="pad notice-pad">
                    <div class="notice bad" role="alert" tabindex="-1" data-problems="">
                        <strong>{error.code.as_str()}</strong>
                        {sentence.map(|sentence| view! { <span>{sentence}</span> })}
                        {list}
                    </div>
                </div>
            }
        })
    }
}

/// Opens the group of a field and focuses it; a path inside the field leads to the field.
fn show(path: &str) {
    let mut path = path;
    loop {
        if let Some(field) = browser::find(&format!("#{}", field_id(path))) {
            if let Ok(Some(group)) = field.closest("details") {
                let _ = group.set_attribute("open", "");
            }
            let _ = field.focus();
            return;
        }
        match path.rsplit_once('.') {
            Some((parent, _)) => path = parent,
            None => return,
        }
    }
}
