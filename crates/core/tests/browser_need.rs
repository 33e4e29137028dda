//! Which pages need a browser: a table of small realistic pages, each with the expected reason.
#![cfg(feature = "render")]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use harvestman_core::api::ScrapeOptions;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::BrowserReason::{self, *};
use harvestman_core::scrape::{RawPage, render};
use url::Url;

/// Name of the file in `data/browser_need`, HTTP status, expected reason.
const PAGES: &[(&str, u16, BrowserReason)] = &[
    ("react_cra_shell", 200, EmptyMount),
    ("vite_react_shell", 200, EmptyMount),
    ("vue_cli_shell", 200, EmptyMount),
    ("angular_shell", 200, EmptyMount),
    ("angular_shell_loading", 200, EmptyMount),
    ("next_client_shell", 200, EmptyMount),
    ("next_app_bailout", 200, Loader),
    ("nuxt_spa_shell", 200, EmptyMount),
    ("svelte_shell", 200, EmptyMount),
    ("sveltekit_csr_shell", 200, State),
    ("gatsby_shell", 200, EmptyMount),
    ("quasar_shell", 200, EmptyMount),
    ("ember_shell", 200, NoText),
    ("blazor_shell", 200, EmptyMount),
    ("flutter_shell", 200, NoText),
    ("custom_element_shell", 200, EmptyTarget),
    ("polymer_app_shell", 200, EmptyMount),
    ("docsify_shell", 200, EmptyMount),
    ("swagger_ui", 200, EmptyTarget),
    ("redoc_shell", 200, EmptyTarget),
    ("shell_with_nav_and_footer", 200, EmptyMount),
    ("shell_with_div_nav", 200, EmptyMount),
    ("shell_main_inside_app", 200, EmptyMount),
    ("empty_main", 200, EmptyMount),
    ("app_shell_status_404", 404, EmptyMount),
    ("app_shell_status_500", 500, EmptyMount),
    ("inline_list_later", 200, EmptyTarget),
    ("inline_table_query_selector", 200, EmptyTarget),
    ("external_script_fills_list", 200, EmptyTarget),
    ("jquery_ajax", 200, EmptyTarget),
    ("quotes_written_by_script", 200, NoText),
    ("asks_in_text", 200, AsksForScripts),
    ("asks_in_noscript_with_shell", 200, Noscript),
    ("asks_in_german", 200, AsksForScripts),
    ("asks_in_chinese", 200, AsksForScripts),
    ("asks_beside_full_text", 200, Content),
    ("article_about_javascript", 200, Content),
    ("loader_text_long", 200, Loader),
    ("loader_class", 200, Loader),
    ("loader_in_heading_page", 200, Loader),
    ("loader_japanese", 200, Loader),
    ("loader_beside_full_text", 200, Content),
    ("hidden_loader", 200, ShortPage),
    ("skeleton_list", 200, Skeleton),
    ("skeleton_mui", 200, Skeleton),
    ("skeleton_tailwind", 200, Skeleton),
    ("skeletons_beside_full_text", 200, Content),
    ("angularjs_template", 200, Template),
    ("vue_in_page_template", 200, Template),
    ("template_in_documentation", 200, Content),
    ("state_without_text", 200, State),
    ("next_rendered", 200, Content),
    ("react_streamed", 200, Content),
    ("cloudflare_challenge", 403, Challenge),
    ("ddos_guard", 403, Challenge),
    ("datadome", 403, Challenge),
    ("aws_waf", 202, Challenge),
    ("incapsula", 200, Challenge),
    ("cookie_and_reload", 503, Challenge),
    ("anubis", 200, Challenge),
    ("jsd_snippet_on_full_page", 200, SideScripts),
    ("forbidden_without_scripts", 403, NoScripts),
    ("consent_wall_over_text", 200, Content),
    ("consent_over_empty_app", 200, EmptyMount),
    ("consent_interstitial", 200, ShortPage),
    ("gallery", 200, ShortPage),
    ("gallery_lazy", 200, ShortPage),
    ("gallery_with_lazysizes", 200, SideScripts),
    ("login_form", 200, ShortPage),
    ("search_form", 200, ShortPage),
    ("short_with_app_script", 200, ShortPage),
    ("paragraph_only", 200, ShortPage),
    ("tiny_with_json_ld", 200, NoScripts),
    ("tiny_with_importmap", 200, NoScripts),
    ("tiny_with_analytics", 200, SideScripts),
    ("tiny_with_tag_manager", 200, SideScripts),
    ("tiny_with_matomo", 200, SideScripts),
    ("tiny_with_cloudflare_beacon", 200, SideScripts),
    ("tiny_with_theme_switch", 200, SideScripts),
    ("tiny_with_jquery", 200, SideScripts),
    ("tiny_without_scripts", 200, NoScripts),
    ("empty_body", 200, NoScripts),
    ("soft_404", 200, ShortPage),
    ("error_404_short", 404, ShortPage),
    ("error_404_words", 404, ErrorPage),
    ("error_500_with_analytics", 500, SideScripts),
    ("cjk_short_chinese", 200, ShortPage),
    ("cjk_short_japanese", 200, Content),
    ("cjk_short_korean", 200, ShortPage),
    ("cjk_shell", 200, EmptyMount),
    ("blog_post", 200, Content),
    ("full_page_with_empty_widget", 200, Content),
    ("short_page_with_side_elements", 200, ShortPage),
    ("full_text_in_noscript", 200, Content),
    ("framed_page", 200, Frames),
    ("rustdoc_redirect", 200, Redirect),
    ("meta_refresh_stub", 200, Redirect),
    ("location_replace_stub", 200, Redirect),
    ("location_href_stub", 200, Redirect),
    ("language_choice_by_script", 200, NoText),
    ("rustdoc_1_63_constant", 200, ShortPage),
    ("rustdoc_1_63_constant_deprecated", 200, Content),
    ("rustdoc_1_63_type", 200, ShortPage),
    ("rustdoc_1_63_redirect", 200, Redirect),
    ("rustdoc_1_63_settings", 200, Noscript),
    ("rustdoc_1_86_constant", 200, ShortPage),
    ("mdbook_moved_page", 200, Content),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/browser_need")
}

#[test]
fn every_page_has_the_expected_reason() {
    let url = Url::parse("https://a.example/docs/page.html").unwrap();
    let id: ScrapeId = "018f2f9e-0000-7000-8000-000000000001".parse().unwrap();
    let mut wrong = Vec::new();
    for &(name, status, expected) in PAGES {
        let body = std::fs::read(folder().join(format!("{name}.html"))).unwrap();
        let page = RawPage {
            requested: &url,
            url: &url,
            status,
            content_type: Some("text/html; charset=utf-8"),
            body: &body,
        };
        let rendered = render(&page, &ScrapeOptions::default(), id).unwrap();
        let found = rendered.browser_reason(status);
        if found != Some(expected) {
            wrong.push(format!(
                "{name}: {found:?} instead of {expected:?}, {:?}",
                rendered.signs
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_is_in_the_table_exactly_once() {
    let listed: BTreeSet<String> = PAGES.iter().map(|(name, ..)| format!("{name}.html")).collect();
    assert_eq!(listed.len(), PAGES.len());
    let files = std::fs::read_dir(folder()).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, listed);
}
