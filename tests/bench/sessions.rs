//! Live views and code in a session, in Chromium. Scripts next to this file measure in the viewer's browser and in
//! Node.js, and print the results.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use harvestman_tests::server::KEY;
use harvestman_tests::{Page, Site, TestServer};

use harvestman_tests::arguments::Arguments;

/// Page that changes its colour with each click.
const CLICKED: &str = "<!doctype html><title>Clicked</title><body style='margin:0;height:100vh;background:#e00000'>
    <script>onmousedown = () => { let to = document.body.style; to.background = (window.on = !window.on) ? '#0000e0' : '#e00000'; }</script>";
/// Page that never stops changing: text and a moving bar.
const MOVING: &str = "<!doctype html><title>Moving</title><body style='font:16px serif'><div id=bar style='width:200px;height:200px;background:#a50'></div>
    <p id=text></p><script>
    document.getElementById('text').textContent = 'The heron stands in the shallow water and waits. '.repeat(80);
    let at = 0; (function step() { at = (at + 7) % 1000; document.getElementById('bar').style.transform = `translateX(${at}px)`; requestAnimationFrame(step); })();
    </script>";

/// Runs `live-view --clicks N --seconds S`.
pub(crate) async fn live_view(arguments: &mut Arguments) -> Result<()> {
    let clicks = arguments.number("--clicks", 100)?;
    let seconds = arguments.number("--seconds", 5)?;
    arguments.end()?;
    script("live_view.mjs", &[clicks.max(1), seconds.max(1)]).await
}

/// Runs `interact --calls N --processes N`.
pub(crate) async fn interact(arguments: &mut Arguments) -> Result<()> {
    let calls = arguments.number("--calls", 200)?;
    let processes = arguments.number("--processes", 11)?;
    arguments.end()?;
    script("interact.mjs", &[calls.max(1), processes.max(1)]).await
}

/// Runs a script with the server, an API key, a site and numbers as arguments.
async fn script(name: &str, numbers: &[u64]) -> Result<()> {
    let variable = |name: &str| {
        std::env::var_os(name).with_context(|| format!("{name} is not set; use `cargo xtask bench`"))
    };
    let chromium = variable("HARVESTMAN_CHROMIUM")?;
    let node = variable("HARVESTMAN_TEST_NODE")?;
    let packages = variable("HARVESTMAN_TEST_JAVASCRIPT")?;
    let text = |path: &OsStr| path.to_str().map(str::to_owned).context("a path is not UTF-8");
    let modules = Path::new(&packages).join("node_modules");
    let settings = [
        ("HARVESTMAN_CHROMIUM", text(&chromium)?),
        ("HARVESTMAN_NODE", text(&node)?),
        ("NODE_PATH", text(modules.as_os_str())?),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = TestServer::start_with(&settings).await;
    let site = Site::new()
        .page("/clicked", Page::html(CLICKED))
        .page("/moving", Page::html(MOVING))
        .serve()
        .await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/bench/");
    let mut command = Command::new(&node);
    command
        .env("NODE_PATH", packages)
        .arg(format!("{path}{name}"))
        .args([
            format!("http://{}", server.address()),
            KEY.to_owned(),
            site.url(""),
        ])
        .args(numbers.iter().map(u64::to_string));
    let status = tokio::task::spawn_blocking(move || command.status()).await??;
    ensure!(status.success(), "{name} failed\n{}", server.log());
    Ok(())
}
