//! Quality test of documentation search: questions of users, with the pages that answer them.

use super::docs;

#[rustfmt::skip]
const QUESTIONS: &[(&str, &[&str])] = &[
    ("How do I get the text of a web page?", &["scrape", "formats"]),
    ("Why do I see yesterday's version of a page, and how do I force a fresh one?", &["caching"]),
    ("Can it press a button before the content is read?", &["actions"]),
    ("My crawl returned only a single page, what is wrong?", &["crawl-scope"]),
    ("How do I keep the crawler out of the admin area?", &["crawl-scope"]),
    ("How many pages are fetched when I don't give a limit?", &["crawl", "limits"]),
    ("Can I describe in plain English what should be crawled?", &["crawl-prompts"]),
    ("How can I be gentle with a small site and pause between requests?", &["politeness"]),
    ("Are robots.txt rules respected?", &["politeness"]),
    ("List all URLs of a website without downloading them", &["map"]),
    ("I have a spreadsheet with 5000 links, how do I scrape all of them?", &["batch"]),
    ("How can I check that a webhook was really sent by this server?", &["webhooks"]),
    ("What happens when my callback endpoint is down?", &["webhooks"]),
    ("What does status 429 mean?", &["errors", "limits", "teams"]),
    ("How expensive is it to crawl a site?", &["credits"]),
    ("Where can I see which requests were made today?", &["activity"]),
    ("How do I create another API key for a colleague?", &["keys", "teams"]),
    ("Can I use Google results?", &["search"]),
    ("Get name and price of a product as structured data", &["extract", "formats"]),
    ("Run my Python code in an open browser tab", &["sessions"]),
    ("How can I show the running browser in my own web app?", &["sessions"]),
    ("Convert a Word document or a PDF that I have on disk", &["files"]),
    ("How do I find out whether a page was modified since last week?", &["change-tracking", "monitors"]),
    ("Which environment variable changes the port?", &["settings"]),
    ("How do I connect Ollama?", &["models"]),
    ("Make sure that nothing I scrape is stored", &["privacy"]),
    ("How do I abort a running crawl?", &["crawl"]),
    (
        "My crawl stopped at its limit, how do I get the rest without fetching everything again?",
        &["continue"],
    ),
    ("How can I retry only the pages that failed?", &["continue"]),
    ("What is the biggest file I can upload?", &["limits", "files"]),
    ("How do I back up my data and upgrade to a new version?", &["self-hosting"]),
    ("Take a picture of the full page", &["formats"]),
    ("Which status codes can be retried?", &["errors", "politeness"]),
    ("What does the error code SCRAPE_TIMEOUT mean?", &["errors"]),
    ("The request fails with 402 payment required", &["errors", "credits"]),
    ("Error 401: how do I send the API key?", &["errors", "keys", "start"]),
    ("The site blocks me with a captcha or 403, what can I do?", &["errors", "scrape"]),
    ("The SSL certificate of the page is invalid", &["errors", "scrape"]),
    ("How long are results of a crawl kept?", &["privacy", "crawl", "limits"]),
    ("How do I get the results of a crawl page by page?", &["crawl"]),
    ("Receive pages live over a WebSocket while the crawl runs", &["crawl"]),
    ("Crawl subdomains too", &["crawl-scope"]),
    ("Follow links to other domains", &["crawl-scope"]),
    ("Ignore query parameters in URLs", &["crawl-scope"]),
    ("Only crawl blog posts with a regular expression", &["crawl-scope"]),
    ("Send cookies and custom headers with a scrape", &["scrape"]),
    ("Scrape as a phone", &["scrape"]),
    ("Choose the country or language of the visitor", &["scrape"]),
    ("Wait until the page has finished loading", &["actions", "scrape"]),
    ("Fill a form and click submit before scraping", &["actions"]),
    ("Stay logged in between sessions with a profile", &["sessions"]),
    ("Get all images of a page", &["formats"]),
    ("Summarize a page", &["formats"]),
    ("Ask a question about a page", &["formats"]),
    ("Remove e-mail addresses and names from results", &["privacy"]),
    ("Check a page every hour and notify me of changes", &["monitors", "change-tracking"]),
    ("Let an agent find data on the web without giving URLs", &["agent"]),
    ("Use a proxy server", &["self-hosting", "scrape", "settings"]),
    ("Run several servers on one PostgreSQL database", &["cluster"]),
    ("Add more URLs to a batch that is running", &["batch"]),
    ("What happens to a crawl when the server restarts?", &["self-hosting"]),
    ("How do I set a monthly credit limit for a team?", &["teams"]),
];

/// Smallest number of questions whose first passage must be on the right page.
const MIN_CORRECT: usize = 56;

#[test]
fn questions_lead_to_the_right_page_first() {
    assert_eq!(QUESTIONS.len(), 62);
    let mut right = 0;
    for (question, pages) in QUESTIONS {
        let found = docs().search(question);
        let first = found.first().map(|found| found.section.url(""));
        let page = found.first().map(|found| found.section.page.as_str());
        let is_right = page.is_some_and(|page| pages.contains(&page));
        right += usize::from(is_right);
        println!(
            "{} {question} -> {}",
            if is_right { "right" } else { "WRONG" },
            first.unwrap_or_default()
        );
    }
    println!("{right} of {} questions", QUESTIONS.len());
    assert!(
        right >= MIN_CORRECT,
        "only {right} questions lead to the right page first"
    );
}

#[test]
fn questions_outside_of_the_documentation_have_no_answer() {
    for question in [
        "How do I bake sourdough bread?",
        "Who won the football world cup in 1954?",
        "What is the capital of Mongolia?",
        "Recommend a good novel",
    ] {
        let found = docs().search(question);
        assert!(found.is_empty(), "{question}: {}", found[0].section.url(""));
    }
}
