//! Below a list of URLs: what the list contains, and a button and drop zone that add the URLs of a text or CSV file.

use std::collections::BTreeSet;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use web_sys::File;

use crate::browser;
use crate::components::file_drop::FileDrop;
use crate::console::Console;
use crate::draft::Draft;
use crate::limits::URL_FILE_BYTES;
use crate::url_list::urls_in;
use crate::{display, text};

/// Renders the summary and the import of the field `urls`.
#[component]
pub fn UrlImport(draft: Draft) -> impl IntoView {
    let console = Console::get();
    let on_file = Callback::new(move |file: File| {
        if file.size() > URL_FILE_BYTES {
            console.notify(text::URL_FILE_TOO_LARGE);
            return;
        }
        spawn_local(async move {
            let found = browser::read_text(&file).await.map(|text| urls_in(&text));
            let Some(found) = found.filter(|found| !found.is_empty()) else {
                console.notify(text::URL_FILE_EMPTY);
                return;
            };
            let count = found.len() as u64;
            let known = draft.value("urls");
            let known = known.as_ref().and_then(Value::as_array).cloned();
            let all = known
                .unwrap_or_default()
                .into_iter()
                .chain(found.into_iter().map(Value::from));
            draft.put("urls", Some(all.collect()));
            console.notify(format!("{} added", display::plural(count, "URL", "URLs")));
        });
    });
    let summary = Memo::new(move |_| {
        let urls = draft.value("urls");
        let urls = urls
            .as_ref()
            .and_then(Value::as_array)?
            .iter()
            .filter_map(Value::as_str);
        summary(urls)
    });
    view! {
        <FileDrop label="Add file" accept=".txt,.csv,.tsv,text/plain,text/csv" on_file>
            <span role="status">{move || summary.get().unwrap_or_else(|| text::URL_FILE_HELP.to_owned())}</span>
        </FileDrop>
    }
    .into_any()
}

/// Returns the number of URLs, hosts and duplicates.
fn summary<'a>(urls: impl Iterator<Item = &'a str>) -> Option<String> {
    let (mut count, mut distinct, mut hosts) = (0_u64, BTreeSet::new(), BTreeSet::new());
    for url in urls {
        count += 1;
        distinct.insert(url);
        hosts.insert(display::host(url));
    }
    let duplicates = count - distinct.len() as u64;
    let duplicates = match duplicates {
        0 => String::new(),
        some => format!(", {}", display::plural(some, "duplicate", "duplicates")),
    };
    (count > 0).then(|| {
        format!(
            "{} on {}{duplicates}",
            display::plural(count, "URL", "URLs"),
            display::plural(hosts.len() as u64, "host", "hosts")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn a_list_is_summed_up() {
        let text = summary(["https://e.com/a", "https://e.com/a", "e.org"].into_iter());
        assert_eq!(text.as_deref(), Some("3 URLs on 2 hosts, 1 duplicate"));
        assert_eq!(summary(std::iter::empty()), None);
    }
}
