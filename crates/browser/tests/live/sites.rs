//! Sites behind the proxy of a live browser: the test answers for every host, and nothing else is reachable.

use std::net::TcpListener;

use harvestman_browser::LiveEgress;
use harvestman_core::api::options::ScrapeOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Stops answering when it is dropped.
struct Server(tokio::task::AbortHandle);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl LiveEgress for Server {
    fn route(&self, _options: &ScrapeOptions) {}
}

/// Serves the sites on a listener until the returned value is dropped.
pub(crate) fn serve(listener: TcpListener) -> Box<dyn LiveEgress> {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let accepting = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(respond(stream));
        }
    });
    Box::new(Server(accepting.abort_handle()))
}

async fn respond(mut stream: TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte).await {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let url = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (status, body) = page(&url, &head);
    let asks = match status.starts_with("401") {
        true => "WWW-Authenticate: Basic realm=\"app\"\r\n",
        false => "",
    };
    let response = format!(
        "HTTP/1.1 {status}\r\n{asks}Content-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // The browser may have gone away.
    let _gone = stream.write_all(response.as_bytes()).await;
}

fn page(url: &str, head: &str) -> (&'static str, String) {
    let body = match url {
        "http://app.test/" => "<title>App</title><h1>Hello</h1><a href=/next>Next</a>
             <a href=/popup target=_blank id=pop>Open</a>"
            .to_owned(),
        "http://app.test/next" => "<title>Next</title><p>second</p>".to_owned(),
        "http://app.test/popup" => "<title>Popup</title><p>opened</p>".to_owned(),
        "http://app.test/form" => "<title>Form</title><form onsubmit=\"event.preventDefault();
               document.querySelector('output').textContent = 'Hello ' + document.querySelector('input').value\">
             <label>Name <input id=name></label><button>Send</button><output></output></form>"
            .to_owned(),
        "http://app.test/agent" | "http://app.test/agent-popup" => {
            let agent = head.lines().find(|line| line.to_ascii_lowercase().starts_with("user-agent:"));
            format!("<p id=sent>{}</p>", agent.unwrap_or_default())
        }
        "http://app.test/desk" => include_str!("../commands/desk.html").to_owned(),
        "http://app.test/desk-next" => "<title>Next desk</title><p>second</p>".to_owned(),
        "http://other.test/frame" => {
            "<button onclick=\"this.textContent = 'pressed far'\">Far frame</button>".to_owned()
        }
        "http://app.test/secret" if !head.contains("\r\nAuthorization: Basic dXNlcjpwYXNz") => {
            return ("401 Unauthorized", "<p>nothing for you</p>".to_owned());
        }
        "http://app.test/secret" => "<p>the secret</p>".to_owned(),
        "http://app.test/shop" => "<title>Shop</title>".to_owned(),
        _ => return ("502 Bad Gateway", String::new()),
    };
    ("200 OK", format!("<!DOCTYPE html>{body}"))
}
