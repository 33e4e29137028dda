//! What a client from outside may ask of the browser: what automation libraries need, and nothing that reaches
//! beyond the session. Behind it stands the session's sandbox; this is the first door, not the only one.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use url::Url;

/// Domains whose commands stay within pages, in order.
const DOMAINS: [&str; 35] = [
    "Accessibility",
    "Animation",
    "Audits",
    "CSS",
    "CacheStorage",
    "Console",
    "DOM",
    "DOMDebugger",
    "DOMSnapshot",
    "DOMStorage",
    "Debugger",
    "DeviceOrientation",
    "Emulation",
    "Fetch",
    "HeapProfiler",
    "IndexedDB",
    "Input",
    "Inspector",
    "LayerTree",
    "Log",
    "Media",
    "Network",
    "Overlay",
    "Page",
    "Performance",
    "PerformanceTimeline",
    "Preload",
    "Profiler",
    "Runtime",
    "Schema",
    "Security",
    "ServiceWorker",
    "Storage",
    "WebAudio",
    "WebAuthn",
];

/// Of the domains that reach beyond pages what libraries need, in order. Left out are above all commands that
/// would carry further ones past this door (`Target.sendMessageToTarget`, `Target.exposeDevToolsProtocol`).
const COMMANDS: [&str; 27] = [
    "Browser.cancelDownload",
    "Browser.getVersion",
    "Browser.getWindowBounds",
    "Browser.getWindowForTarget",
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setContentsSize",
    "Browser.setDownloadBehavior",
    "Browser.setPermission",
    "Browser.setWindowBounds",
    "IO.close",
    "IO.read",
    "IO.resolveBlob",
    "Target.activateTarget",
    "Target.attachToBrowserTarget",
    "Target.attachToTarget",
    "Target.autoAttachRelated",
    "Target.closeTarget",
    "Target.createBrowserContext",
    "Target.createTarget",
    "Target.detachFromTarget",
    "Target.disposeBrowserContext",
    "Target.getBrowserContexts",
    "Target.getTargetInfo",
    "Target.getTargets",
    "Target.setAutoAttach",
    "Target.setDiscoverTargets",
];

/// What becomes of a command.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Verdict {
    /// It goes to the browser as it is.
    Pass,
    /// It goes there with these parameters, which were read here: what was judged is what is sent.
    With(Value),
    /// It is answered as if it had been done.
    Done,
    /// It is refused with these words.
    Refused(&'static str),
}

const NOT_ALLOWED: Verdict = Verdict::Refused("this command is not allowed in a session");
const NO_ADDRESS: Verdict =
    Verdict::Refused("only addresses with http:, https:, data:, blob: and about:blank can be opened");
const NO_FILE: Verdict =
    Verdict::Refused("the browser of a session has no files; give the content, not the path");
const NO_PROXY: Verdict =
    Verdict::Refused("a session has one way to the network; a context cannot have another");

/// Judges one command.
pub(super) fn judge(method: &str, params: Option<&RawValue>) -> Verdict {
    // The session ends by its own call.
    if matches!(method, "Browser.close" | "Browser.crash") {
        return Verdict::Done;
    }
    let domain = method.split('.').next().unwrap_or_default();
    if DOMAINS.binary_search(&domain).is_err() && COMMANDS.binary_search(&method).is_err() {
        return NOT_ALLOWED;
    }
    let read = || -> Map<String, Value> {
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        params.unwrap_or_default()
    };
    match method {
        "Page.crash" => NOT_ALLOWED,
        "Page.navigate" | "Target.createTarget" | "Network.loadNetworkResource" | "Fetch.continueRequest" => {
            may_open(read())
        }
        "Target.createBrowserContext" => may_create_context(read()),
        "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => no_download(read()),
        "DOM.setFileInputFiles" => no_files(read(), |params| params.get("files")),
        "Input.dispatchDragEvent" => no_files(read(), |params| params.get("data")?.get("files")),
        _ => Verdict::Pass,
    }
}

/// Nothing is downloaded, wherever to; libraries ask for it when they connect, and go on without.
fn no_download(mut params: Map<String, Value>) -> Verdict {
    params.remove("downloadPath");
    params.insert("behavior".to_owned(), json!("deny"));
    Verdict::With(params.into())
}

/// Paths of files are refused, an empty list is not.
fn no_files(params: Map<String, Value>, files: fn(&Map<String, Value>) -> Option<&Value>) -> Verdict {
    let none = match files(&params) {
        None | Some(Value::Null) => true,
        Some(Value::Array(files)) => files.is_empty(),
        Some(_) => false,
    };
    match none {
        true => Verdict::With(params.into()),
        false => NO_FILE,
    }
}

fn may_open(params: Map<String, Value>) -> Verdict {
    let allowed = match params.get("url") {
        None | Some(Value::Null) => true,
        Some(Value::String(url)) if url.is_empty() => true,
        Some(Value::String(url)) => Url::parse(url).is_ok_and(|url| match url.scheme() {
            "http" | "https" | "data" | "blob" => true,
            "about" => matches!(url.path(), "blank" | "srcdoc"),
            _ => false,
        }),
        Some(_) => false,
    };
    match allowed {
        true => Verdict::With(params.into()),
        false => NO_ADDRESS,
    }
}

fn may_create_context(params: Map<String, Value>) -> Verdict {
    let own_way = [
        "proxyServer",
        "proxyBypassList",
        "originsWithUniversalNetworkAccess",
    ];
    let given = |name: &&str| {
        let value = params.get(*name).unwrap_or(&Value::Null);
        !(value.is_null() || value == "" || value == &json!([]))
    };
    match own_way.iter().any(given) {
        true => NO_PROXY,
        false => Verdict::With(params.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, params: Value) -> Verdict {
        let params = RawValue::from_string(params.to_string()).unwrap();
        judge(method, Some(&params))
    }

    #[test]
    fn the_lists_are_in_order_so_that_names_are_found() {
        assert!(DOMAINS.is_sorted());
        assert!(COMMANDS.is_sorted());
    }

    #[test]
    fn what_reaches_beyond_the_session_is_refused() {
        for method in [
            "Browser.executeBrowserCommand",
            "Browser.getBrowserCommandLine",
            "Browser.crashGpuProcess",
            "Cast.enable",
            "DeviceAccess.enable",
            "Extensions.loadUnpacked",
            "FileSystem.getDirectory",
            "Memory.simulatePressureNotification",
            "PWA.install",
            "Page.crash",
            "SystemInfo.getInfo",
            "SystemInfo.getProcessInfo",
            "Target.exposeDevToolsProtocol",
            "Target.sendMessageToTarget",
            "Target.setRemoteLocations",
            "Tethering.bind",
            "Tracing.start",
            "Unknown.command",
            "pageX",
            "",
        ] {
            assert_eq!(check(method, json!({})), NOT_ALLOWED, "{method}");
        }
    }

    #[test]
    fn what_libraries_need_passes() {
        for method in [
            "Page.enable",
            "Runtime.evaluate",
            "Target.setAutoAttach",
            "IO.read",
            "Browser.getVersion",
        ] {
            assert_eq!(check(method, json!({"x": 1})), Verdict::Pass, "{method}");
        }
        for method in ["Browser.close", "Browser.crash"] {
            assert_eq!(check(method, json!({})), Verdict::Done, "{method}");
        }
    }

    #[test]
    fn only_addresses_of_the_web_are_opened() {
        for method in [
            "Page.navigate",
            "Target.createTarget",
            "Network.loadNetworkResource",
            "Fetch.continueRequest",
        ] {
            for good in [
                "http://a.test/",
                "https://a.test",
                "data:text/html,x",
                "about:blank",
                "about:blank#x",
                "",
            ] {
                let params = json!({"url": good, "frameId": "f"});
                assert_eq!(check(method, params.clone()), Verdict::With(params), "{good}");
            }
            for bad in [
                "file:///etc/passwd",
                "FILE:///etc/passwd",
                " file:///etc/passwd",
                "fi\tle:///etc/passwd",
                "view-source:file:///etc/passwd",
                "view-source:http://a.test",
                "chrome://version",
                "chrome-extension://x/y",
                "devtools://devtools/x",
                "about:version",
                "about:crash",
                "javascript:alert(1)",
                "filesystem:http://a.test/x",
                "/etc/passwd",
            ] {
                assert_eq!(check(method, json!({"url": bad})), NO_ADDRESS, "{bad}");
            }
            assert_eq!(check(method, json!({"url": ["file:///"]})), NO_ADDRESS);
        }
    }

    #[test]
    fn the_address_that_was_judged_is_the_one_that_is_sent() {
        let twice = r#"{"url":"file:///etc/passwd","url":"http://a.test/"}"#;
        let params = RawValue::from_string(twice.to_owned()).unwrap();
        let verdict = judge("Page.navigate", Some(&params));
        assert_eq!(verdict, Verdict::With(json!({"url": "http://a.test/"})));
    }

    #[test]
    fn a_context_cannot_have_a_network_of_its_own() {
        let create = |params| check("Target.createBrowserContext", params);
        assert_eq!(create(json!({"proxyServer": "http://1.2.3.4:80"})), NO_PROXY);
        assert_eq!(create(json!({"proxyBypassList": "*"})), NO_PROXY);
        let plain = json!({"disposeOnDetach": true, "proxyServer": null});
        assert_eq!(create(plain.clone()), Verdict::With(plain));
    }

    #[test]
    fn nothing_is_downloaded_and_no_file_is_read() {
        let allow = json!({"behavior": "allowAndName", "downloadPath": "/tmp", "eventsEnabled": true});
        let deny = json!({"behavior": "deny", "eventsEnabled": true});
        for method in ["Browser.setDownloadBehavior", "Page.setDownloadBehavior"] {
            assert_eq!(check(method, allow.clone()), Verdict::With(deny.clone()));
        }
        let files = |paths: Value| json!({"files": paths, "backendNodeId": 1});
        let method = "DOM.setFileInputFiles";
        assert_eq!(check(method, files(json!(["/etc/passwd"]))), NO_FILE);
        assert_eq!(check(method, files(json!("/etc/passwd"))), NO_FILE);
        assert_eq!(check(method, files(json!([]))), Verdict::With(files(json!([]))));
        let drag = |paths: Value| json!({"type": "drop", "data": {"items": [], "files": paths}});
        assert_eq!(
            check("Input.dispatchDragEvent", drag(json!(["/etc/passwd"]))),
            NO_FILE
        );
        let plain = drag(Value::Null);
        assert_eq!(
            check("Input.dispatchDragEvent", plain.clone()),
            Verdict::With(plain)
        );
    }
}
