//! The commands that external clients may send to the browser: what automation libraries need, and nothing
//! that reaches beyond the session. The session's sandbox is the second line of defence.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use url::Url;

/// Domains whose commands stay within pages, sorted.
const DOMAINS: [&str; 35] = [
    "Accessibility", "Animation", "Audits", "CSS", "CacheStorage", "Console", "DOM", "DOMDebugger",
    "DOMSnapshot", "DOMStorage", "Debugger", "DeviceOrientation", "Emulation", "Fetch", "HeapProfiler",
    "IndexedDB", "Input", "Inspector", "LayerTree", "Log", "Media", "Network", "Overlay", "Page",
    "Performance", "PerformanceTimeline", "Preload", "Profiler", "Runtime", "Schema", "Security",
    "ServiceWorker", "Storage", "WebAudio", "WebAuthn",
];

/// Allowed commands of other domains, sorted. In particular, commands that would carry further commands past
/// this check are missing (`Target.sendMessageToTarget`, `Target.exposeDevToolsProtocol`).
const COMMANDS: [&str; 27] = [
    "Browser.cancelDownload", "Browser.getVersion", "Browser.getWindowBounds", "Browser.getWindowForTarget",
    "Browser.grantPermissions", "Browser.resetPermissions", "Browser.setContentsSize",
    "Browser.setDownloadBehavior", "Browser.setPermission", "Browser.setWindowBounds", "IO.close", "IO.read",
    "IO.resolveBlob", "Target.activateTarget", "Target.attachToBrowserTarget", "Target.attachToTarget",
    "Target.autoAttachRelated", "Target.closeTarget", "Target.createBrowserContext", "Target.createTarget",
    "Target.detachFromTarget", "Target.disposeBrowserContext", "Target.getBrowserContexts",
    "Target.getTargetInfo", "Target.getTargets", "Target.setAutoAttach", "Target.setDiscoverTargets",
];

/// The decision about a command.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Verdict {
    /// Send the command unchanged.
    Pass,
    /// Send the command with these parsed parameters, so that what was checked is what is sent.
    PassWith(Value),
    /// Do not send the command; respond that it succeeded.
    Succeed,
    /// Like [`Verdict::Succeed`], and set whether pages may download. Files stay with the session: the folder that the
    /// client names is not used.
    SetDownloads {
        /// Browser context; `None`: the browser's own.
        context: Option<String>,
        denied: bool,
        /// Whether the client receives events of downloads; `None`: as before.
        reported: Option<bool>,
    },
    /// Like [`Verdict::Succeed`], and cancel the download with this id.
    CancelDownload(String),
    /// Reject the command with this message.
    Reject(&'static str),
}

const NOT_ALLOWED: Verdict = Verdict::Reject("this command is not allowed in a session");
const URL_NOT_ALLOWED: Verdict =
    Verdict::Reject("only http:, https:, data: and blob: URLs and about:blank can be opened");
const FILES_NOT_ALLOWED: Verdict =
    Verdict::Reject("the browser of a session has no files; pass the content, not a path");
const PROXY_NOT_ALLOWED: Verdict = Verdict::Reject("a browser context cannot have its own proxy");

/// Decides about one command.
pub(super) fn decide(method: &str, params: Option<&RawValue>) -> Verdict {
    // Sessions are ended through the API only.
    if matches!(method, "Browser.close" | "Browser.crash") {
        return Verdict::Succeed;
    }
    let domain = method.split('.').next().unwrap_or_default();
    if DOMAINS.binary_search(&domain).is_err() && COMMANDS.binary_search(&method).is_err() {
        return NOT_ALLOWED;
    }
    let parse = || -> Map<String, Value> {
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        params.unwrap_or_default()
    };
    match method {
        "Page.crash" => NOT_ALLOWED,
        "Page.navigate" | "Target.createTarget" | "Network.loadNetworkResource" | "Fetch.continueRequest" => {
            check_url(parse())
        }
        "Target.createBrowserContext" => check_context(parse()),
        "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => set_downloads(method, &parse()),
        "Browser.cancelDownload" => Verdict::CancelDownload(string(&parse(), "guid").unwrap_or_default()),
        "DOM.setFileInputFiles" => reject_files(parse(), |params| params.get("files")),
        "Input.dispatchDragEvent" => reject_files(parse(), |params| params.get("data")?.get("files")),
        _ => Verdict::Pass,
    }
}

fn set_downloads(method: &str, params: &Map<String, Value>) -> Verdict {
    let is_browser = method.starts_with("Browser.");
    Verdict::SetDownloads {
        context: string(params, "browserContextId"),
        denied: params.get("behavior").is_some_and(|behavior| behavior == "deny"),
        reported: is_browser.then(|| params.get("eventsEnabled") == Some(&Value::Bool(true))),
    }
}

fn string(params: &Map<String, Value>, name: &str) -> Option<String> {
    params.get(name)?.as_str().map(str::to_owned)
}

/// Rejects file paths; an empty list is allowed.
fn reject_files(params: Map<String, Value>, files: fn(&Map<String, Value>) -> Option<&Value>) -> Verdict {
    let is_empty = match files(&params) {
        None | Some(Value::Null) => true,
        Some(Value::Array(files)) => files.is_empty(),
        Some(_) => false,
    };
    match is_empty {
        true => Verdict::PassWith(params.into()),
        false => FILES_NOT_ALLOWED,
    }
}

fn check_url(params: Map<String, Value>) -> Verdict {
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
        true => Verdict::PassWith(params.into()),
        false => URL_NOT_ALLOWED,
    }
}

fn check_context(params: Map<String, Value>) -> Verdict {
    let network_options = [
        "proxyServer",
        "proxyBypassList",
        "originsWithUniversalNetworkAccess",
    ];
    let is_set = |name: &&str| {
        let value = params.get(*name).unwrap_or(&Value::Null);
        !(value.is_null() || value == "" || value == &json!([]))
    };
    match network_options.iter().any(is_set) {
        true => PROXY_NOT_ALLOWED,
        false => Verdict::PassWith(params.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, params: Value) -> Verdict {
        let params = RawValue::from_string(params.to_string()).unwrap();
        decide(method, Some(&params))
    }

    #[test]
    fn the_lists_are_sorted_for_binary_search() {
        assert!(DOMAINS.is_sorted());
        assert!(COMMANDS.is_sorted());
    }

    #[test]
    fn commands_that_reach_beyond_the_session_are_rejected() {
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
    fn commands_that_libraries_need_are_allowed() {
        for method in [
            "Page.enable", "Runtime.evaluate", "Target.setAutoAttach", "IO.read", "Browser.getVersion",
        ] {
            assert_eq!(check(method, json!({"x": 1})), Verdict::Pass, "{method}");
        }
        for method in ["Browser.close", "Browser.crash"] {
            assert_eq!(check(method, json!({})), Verdict::Succeed, "{method}");
        }
    }

    #[test]
    fn only_web_urls_are_opened() {
        for method in [
            "Page.navigate", "Target.createTarget", "Network.loadNetworkResource", "Fetch.continueRequest",
        ] {
            for good in [
                "http://a.test/", "https://a.test", "data:text/html,x", "about:blank", "about:blank#x", "",
            ] {
                let params = json!({"url": good, "frameId": "f"});
                assert_eq!(check(method, params.clone()), Verdict::PassWith(params), "{good}");
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
                assert_eq!(check(method, json!({"url": bad})), URL_NOT_ALLOWED, "{bad}");
            }
            assert_eq!(check(method, json!({"url": ["file:///"]})), URL_NOT_ALLOWED);
        }
    }

    #[test]
    fn the_url_that_was_checked_is_the_one_that_is_sent() {
        let twice = r#"{"url":"file:///etc/passwd","url":"http://a.test/"}"#;
        let params = RawValue::from_string(twice.to_owned()).unwrap();
        let verdict = decide("Page.navigate", Some(&params));
        assert_eq!(verdict, Verdict::PassWith(json!({"url": "http://a.test/"})));
    }

    #[test]
    fn a_context_cannot_have_its_own_proxy() {
        let create = |params| check("Target.createBrowserContext", params);
        assert_eq!(
            create(json!({"proxyServer": "http://1.2.3.4:80"})),
            PROXY_NOT_ALLOWED
        );
        assert_eq!(create(json!({"proxyBypassList": "*"})), PROXY_NOT_ALLOWED);
        let plain = json!({"disposeOnDetach": true, "proxyServer": null});
        assert_eq!(create(plain.clone()), Verdict::PassWith(plain));
    }

    #[test]
    fn downloads_stay_with_the_session_and_file_paths_are_rejected() {
        let allow = json!({"behavior": "allowAndName", "downloadPath": "/etc", "eventsEnabled": true});
        let deny = json!({"behavior": "deny", "browserContextId": "c"});
        let verdict = |context: Option<&str>, denied, reported| Verdict::SetDownloads {
            context: context.map(str::to_owned),
            denied,
            reported,
        };
        let set = "Browser.setDownloadBehavior";
        assert_eq!(check(set, allow.clone()), verdict(None, false, Some(true)));
        assert_eq!(check(set, deny.clone()), verdict(Some("c"), true, Some(false)));
        assert_eq!(
            check("Page.setDownloadBehavior", allow),
            verdict(None, false, None)
        );
        assert_eq!(
            check("Browser.cancelDownload", json!({"guid": "g"})),
            Verdict::CancelDownload("g".to_owned())
        );
        let files = |paths: Value| json!({"files": paths, "backendNodeId": 1});
        let method = "DOM.setFileInputFiles";
        assert_eq!(check(method, files(json!(["/etc/passwd"]))), FILES_NOT_ALLOWED);
        assert_eq!(check(method, files(json!("/etc/passwd"))), FILES_NOT_ALLOWED);
        assert_eq!(
            check(method, files(json!([]))),
            Verdict::PassWith(files(json!([])))
        );
        let drag = |paths: Value| json!({"type": "drop", "data": {"items": [], "files": paths}});
        assert_eq!(
            check("Input.dispatchDragEvent", drag(json!(["/etc/passwd"]))),
            FILES_NOT_ALLOWED
        );
        let plain = drag(Value::Null);
        assert_eq!(
            check("Input.dispatchDragEvent", plain.clone()),
            Verdict::PassWith(plain)
        );
    }
}
