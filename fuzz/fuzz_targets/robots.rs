//! Parsing of robots.txt: the first line is the agent, the second a path, the rest the file.
#![no_main]

use harvestman_core::robots::Robots;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(3, |byte| *byte == b'\n');
    let mut text = || String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let (agent, path) = (text(), text());
    let file = lines.next().unwrap_or_default();
    let robots = Robots::parse(file, &agent);
    let allowed = robots.allows(&path);
    robots.crawl_delay_ms();
    assert!(robots.sitemaps().iter().all(|line| !line.is_empty()));
    // An empty file allows everything.
    if file.is_empty() {
        assert!(allowed);
    }
});
