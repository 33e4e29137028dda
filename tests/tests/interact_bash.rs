//! Browser commands (`language: "bash"`) with the real server.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{Page, RunningSite, Site, TestServer, assert_fields, tools};
use serde_json::{Value, json};

const FORM: &str = "<!doctype html><title>Form</title><h1>Sign up</h1>
    <form onsubmit=\"event.preventDefault(); document.querySelector('output').textContent =
        'Hello ' + document.querySelector('input').value\">
      <label>Name <input></label><button>Send</button>
    </form><output></output>
    <p style='margin-top: 3000px'>The end</p><a href=/next>Next</a>";

struct Fixture {
    server: TestServer,
    path: String,
    /// Keeps the site running.
    _site: RunningSite,
}

impl Fixture {
    async fn open() -> (Fixture, String) {
        let site = Site::new()
            .page("/", Page::html(FORM))
            .page(
                "/next",
                Page::html("<!doctype html><title>Next</title><p>second page"),
            )
            .serve()
            .await;
        let settings = [tools::chromium()];
        let server = TestServer::start_with(&settings).await;
        let id = server.scrape_id(&json!({ "url": site.url("/") })).await;
        let path = format!("/v2/scrape/{id}/interact");
        let next = site.url("/next");
        let fixture = Fixture {
            server,
            path,
            _site: site,
        };
        (fixture, next)
    }

    async fn run(&self, code: &str) -> Value {
        let body = json!({ "code": code, "language": "bash" });
        self.server.post(&self.path, &body).await.ok()
    }

    async fn prints(&self, code: &str) -> String {
        let response = self.run(code).await;
        assert_eq!(
            (&response["success"], &response["exitCode"]),
            (&json!(true), &json!(0)),
            "{code}: {response}"
        );
        assert_eq!(response["stderr"], "");
        response["stdout"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn the_documented_commands_work() {
    let (fixture, next) = Fixture::open().await;
    let snapshot = fixture.prints("agent-browser snapshot -i").await;
    assert_eq!(
        snapshot,
        "- textbox \"Name\" [ref=e1]\n- button \"Send\" [ref=e2]\n- link \"Next\" [ref=e3]\n"
    );
    let printed = fixture
        .prints("fill @e1 \"Ada L.\" && click @e2\n\n# what it says\nget text output\nget title\nget url")
        .await;
    assert!(
        printed.contains("\nHello Ada L.\nForm\nhttp://127.0.0.1:"),
        "{printed}"
    );
    assert!(
        fixture
            .prints("snapshot")
            .await
            .contains("- heading \"Sign up\" [level=1, ref=e1]")
    );
    let printed = fixture
        .prints("type input ' x'\npress Enter\nwait 50\nget text output")
        .await;
    assert!(printed.ends_with("Hello Ada L. x\n"), "{printed}");
    assert!(
        fixture
            .prints("scroll down 700\neval \"scrollY\"")
            .await
            .ends_with("\n700\n")
    );
    assert!(
        fixture
            .prints("scroll up 200px && eval 'scrollY'")
            .await
            .ends_with("\n500\n")
    );
    let printed = fixture
        .prints(&format!("open {next}\nback\nforward\nreload\nget title"))
        .await;
    assert!(printed.ends_with("Next\n"), "{printed}");
    assert!(
        fixture
            .prints("screenshot")
            .await
            .starts_with("data:image/png;base64,")
    );
}

#[tokio::test]
async fn a_failed_script_reports_the_line_and_is_not_a_shell() {
    let (fixture, _) = Fixture::open().await;
    for (code, printed, line) in [
        (
            "get title\nclick #nothing\nget title",
            "Form\n",
            "line 2: no element on the page matches `#nothing`",
        ),
        (
            "get title && get title | cat",
            "",
            "line 1: this is not a system shell",
        ),
        ("cat /etc/passwd", "", "line 1: unknown command `cat`"),
        (
            "get title\n\nopen file:///etc/passwd",
            "Form\n",
            "line 3: cannot open `file:///etc/passwd`",
        ),
    ] {
        let response = fixture.run(code).await;
        assert_eq!(
            (&response["success"], &response["exitCode"]),
            (&json!(false), &json!(1)),
            "{code}"
        );
        let (stdout, stderr) = (
            response["stdout"].as_str().unwrap(),
            response["stderr"].as_str().unwrap(),
        );
        assert!(stderr.starts_with(line), "{code}: {stderr}");
        assert_eq!(response["error"], stderr.trim_end());
        if !code.contains("&&") {
            assert_eq!(stdout, printed);
        }
    }
    let body = json!({ "code": "get title\nwait 60000", "language": "bash", "timeout": 2 });
    let response = fixture.server.post(&fixture.path, &body).await.ok();
    assert_fields(&response, json!({ "killed": true, "exitCode": 124 }));
    assert_eq!(response["stdout"], "Form\n");
    assert_eq!(fixture.prints("get title").await, "Form\n");
}
