//! Hostile code and pages in browser sessions with the real server. Each probe attempts one escape from the sandbox
//! and must fail as expected; `docs/SANDBOX.md` lists them. No packet leaves the machine: the sandbox has no network.

#![allow(clippy::unwrap_used)]

use std::fs::{self, Permissions};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use harvestman_tests::{Folder, Page, Site, TestServer, server::KEY, tools};
use serde_json::{Value, json};

/// Name of the attempt, language, code, and the results that mean that it failed, separated by `|`.
type Probe = (&'static str, &'static str, &'static str, &'static str);

const PRELUDE: [(&str, &str); 2] = [
    (
        "node",
        r#"
globalThis.fs = require("fs");
globalThis.attempt = async (act) => {
  try {
    return "escaped: " + (await act());
  } catch (error) {
    return error.code ?? String(error.message ?? error).split("\n")[0];
  }
};
globalThis.connect = (to) =>
  new Promise((resolve, reject) => {
    const socket = require("net").connect(to, () => resolve("connected"));
    socket.on("error", reject);
    setTimeout(() => reject(new Error("silence")), 3000);
  });
globalThis.cdp = await browser.newBrowserCDPSession();
globalThis.tab = await context.newCDPSession(page);
// A pending error page may interrupt the navigation, which then interrupts an immediate second one.
globalThis.status = async (url) => {
  for (;;)
    try {
      return (await page.goto(url)).status();
    } catch (error) {
      if (!/interrupted by another navigation/.test(error)) throw error;
      await page.waitForLoadState();
    }
};
0"#,
    ),
    (
        "python",
        r#"
import ctypes, errno, os, resource, socket, stat, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(act):
    try:
        return "escaped: " + str(act())
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    except MemoryError:
        return "MemoryError"
def call(name, *arguments):
    if libc[name](*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
    return "done"
def apart(name, *arguments):
    child = os.fork()
    if child == 0:
        os._exit(ctypes.get_errno() if libc[name](*arguments) < 0 else 0)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number:
        raise OSError(number, name)
    return "done"
def spawn():
    children = []
    try:
        for _ in range(400):
            children.append(subprocess.Popen(["sleep", "60"]))
        return len(children)
    finally:
        for child in children:
            child.kill()
            child.wait()
def devour():
    taken = []
    for _ in range(64):
        taken.append(bytearray(b"x" * 2**26))
    return len(taken)
0"#,
    ),
];

#[rustfmt::skip]
const PROBES: &[Probe] = &[
    // Files.
    ("reading `/etc/passwd`", "node", "await attempt(() => fs.readFileSync('/etc/passwd'))", "ENOENT"),
    ("reading `/etc/passwd` from Python", "python", "attempt(lambda: open('/etc/passwd').read())", "ENOENT"),
    ("listing the server's data folder", "node", "await attempt(() => fs.readdirSync('{DATA}'))", "ENOENT"),
    ("reading the server's database", "python", "attempt(lambda: open('{DATA}/harvestman.db', 'rb').read())", "ENOENT"),
    ("listing the server's working folder", "node", "await attempt(() => fs.readdirSync(require('path').dirname('{DATA}')))", "ENOENT"),
    ("listing home folders", "node", "await attempt(() => fs.readdirSync('/home'))", "ENOENT"),
    ("writing to `/usr/bin`", "node", "await attempt(() => fs.writeFileSync('/usr/bin/probe', ''))", "EROFS"),
    ("writing to the root folder", "node", "await attempt(() => fs.writeFileSync('/probe', ''))", "EROFS"),
    ("writing to `/dev`", "node", "await attempt(() => fs.writeFileSync('/dev/probe', ''))", "EROFS|EACCES"),
    ("writing to a bind mount", "python", "attempt(lambda: open(sys.prefix + '/probe', 'w'))", "EROFS"),
    ("changing a kernel setting", "node", "await attempt(() => fs.writeFileSync('/proc/sys/kernel/core_uses_pid', fs.readFileSync('/proc/sys/kernel/core_uses_pid')))", "EROFS|EACCES"),
    ("changing the OOM score", "node", "await attempt(() => fs.writeFileSync('/proc/self/oom_score_adj', '0'))", "EROFS|EACCES"),
    ("listing control groups", "node", "await attempt(() => fs.readdirSync('/sys/fs/cgroup'))", "ENOENT"),
    ("reading `/dev/mem`", "python", "attempt(lambda: open('/dev/mem', 'rb'))", "ENOENT"),
    ("creating a block device", "python", "attempt(lambda: os.mknod('/tmp/disk', stat.S_IFBLK | 0o600, os.makedev(8, 0)))", "EPERM"),
    // Environment and processes.
    ("the environment of the code", "node", "Object.keys(process.env).sort().join()", "HOME,LANG,PATH,PWD"),
    ("the environment of the sandbox's first process", "node", "JSON.stringify(fs.readFileSync('/proc/1/environ', 'utf8'))", "\"\""),
    ("API keys in the environment of any process", "python", "str(any(b'{KEY}' in open(f'/proc/{p}/environ', 'rb').read() for p in os.listdir('/proc') if p.isdigit()))", "False"),
    ("seeing the server's process", "python", "str(any(b'serve' in open(f'/proc/{p}/cmdline', 'rb').read().split(b'\\0') for p in os.listdir('/proc') if p.isdigit()))", "False"),
    ("killing a process outside", "node", "await attempt(() => process.kill({PID}, 'SIGKILL'))", "ESRCH"),
    ("killing the server", "python", "attempt(lambda: os.kill({SERVER}, 9))", "ESRCH"),
    ("tracing a process outside", "python", "attempt(lambda: call('ptrace', 16, {PID}, 0, 0))", "ESRCH|EPERM"),
    // Privileges.
    ("becoming root", "python", "attempt(lambda: os.setuid(0))", "EPERM|EINVAL"),
    ("gaining privileges through setuid programs", "python", "[l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')][0]", "1"),
    ("capabilities", "python", "str({l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapInh', 'CapAmb'))})", "{'0000000000000000'}"),
    ("creating a user namespace", "python", "attempt(lambda: apart('unshare', 0x10000000))", "ENOSPC|EPERM"),
    ("mounting a file system", "python", "attempt(lambda: call('mount', b'none', b'/tmp', b'tmpfs', 0, None))", "EPERM"),
    ("changing the host name", "python", "attempt(lambda: socket.sethostname('mine'))", "EPERM"),
    ("raising the scheduling priority", "python", "attempt(lambda: call('setpriority', 0, 0, -10))", "EACCES|EPERM"),
    // Network access from code.
    ("connecting to the server", "node", "await attempt(() => connect({ host: '127.0.0.1', port: {PORT} }))", "ECONNREFUSED"),
    ("connecting to the server from Python", "python", "attempt(lambda: socket.create_connection(('127.0.0.1', {PORT}), 3))", "ECONNREFUSED"),
    ("connecting to a local service", "node", "await attempt(() => connect({ host: '127.0.0.1', port: {CANARY} }))", "ECONNREFUSED"),
    ("connecting to the cloud metadata address", "node", "await attempt(() => connect({ host: '169.254.169.254', port: 80 }))", "ENETUNREACH"),
    ("connecting to the cloud metadata address from Python", "python", "attempt(lambda: socket.create_connection(('169.254.169.254', 80), 3))", "ENETUNREACH"),
    ("connecting to an internet address", "node", "await attempt(() => connect({ host: '192.0.2.1', port: 443 }))", "ENETUNREACH"),
    ("resolving a host name", "node", "await attempt(() => require('dns').promises.lookup('name.test'))", "EAI_AGAIN|ENOTFOUND"),
    ("sending a datagram", "python", "attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53)))", "ENETUNREACH"),
    ("opening a raw socket", "python", "attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))", "EPERM"),
    ("opening a packet socket", "python", "attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))", "EPERM"),
    ("connecting to an abstract socket outside", "node", "await attempt(() => connect('\\0{SOCKET}'))", "ECONNREFUSED"),
    ("connecting to a socket file outside", "python", "attempt(lambda: socket.socket(socket.AF_UNIX).connect('/tmp/{SOCKET}'))", "ENOENT"),
    ("listening ports besides the browser's", "python", "str([l.split()[1].split(':')[1] for l in open('/proc/net/tcp') if l.split()[3] == '0A'])", "['2406']"),
    // Resource exhaustion.
    ("starting too many processes", "python", "attempt(spawn)", "EAGAIN"),
    ("allocating too much memory", "python", "attempt(devour)", "MemoryError|the worker process ended unexpectedly"),
    ("filling the disk", "node", "await attempt(() => { for (let i = 0; i < 64; i++) fs.appendFileSync('/tmp/fill', Buffer.alloc(2 ** 24)); })", "ENOSPC"),
    ("freeing the disk afterwards", "node", "fs.rmSync('/tmp/fill'); 'none left'", "none left"),
    ("filling shared memory", "node", "await attempt(() => { for (let i = 0; i < 64; i++) fs.appendFileSync('/dev/shm/fill', Buffer.alloc(2 ** 24)); })", "ENOSPC"),
    // The browser's protocol.
    ("navigating to a file", "node", "await attempt(() => page.goto('file:///etc/passwd'))", "only http:, https:"),
    ("navigating to a file by the protocol", "node", "await attempt(() => tab.send('Page.navigate', { url: 'file:///proc/self/environ' }))", "only http:, https:"),
    ("opening a page of the browser itself", "node", "await attempt(() => tab.send('Page.navigate', { url: 'chrome://version' }))", "only http:, https:"),
    ("opening a file in a new page", "node", "await attempt(() => cdp.send('Target.createTarget', { url: 'file:///etc/hosts' }))", "only http:, https:"),
    ("uploading a file of the machine", "node", "await attempt(async () => { await page.setContent('<input type=file>'); const { root } = await tab.send('DOM.getDocument'); const { nodeId } = await tab.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'input' }); return tab.send('DOM.setFileInputFiles', { nodeId, files: ['/etc/hosts'] }) })", "has no files; pass the content"),
    ("a context with its own proxy", "node", "await attempt(() => cdp.send('Target.createBrowserContext', { proxyServer: 'direct://' }))", "cannot have its own proxy"),
    ("exposing the protocol to a page", "node", "await attempt(async () => cdp.send('Target.exposeDevToolsProtocol', { targetId: (await cdp.send('Target.getTargets')).targetInfos[0].targetId }))", "not allowed in a session"),
    ("reading facts about the machine", "node", "await attempt(() => cdp.send('SystemInfo.getProcessInfo'))", "not allowed in a session"),
    ("reading the browser's command line", "node", "await attempt(() => cdp.send('Browser.getBrowserCommandLine'))", "not allowed in a session"),
    ("tracing the whole browser", "node", "await attempt(() => cdp.send('Tracing.start'))", "not allowed in a session"),
    ("opening a port by the protocol", "node", "await attempt(() => cdp.send('Tethering.bind', { port: 8099 }))", "not allowed in a session"),
    ("seeing pages of other sessions", "node", "String((await cdp.send('Target.getTargets')).targetInfos.some(({ title }) => title === 'Other session'))", "false"),
    ("downloading into the server's folder", "node", "await cdp.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: '{DATA}' }); await page.goto('{SITE}/'); await page.evaluate(() => { const a = document.createElement('a'); a.href = 'data:text/plain,x'; a.download = 'probe.txt'; a.click(); }); await page.waitForTimeout(300); 'looked at outside'", "looked at outside"),
    ("closing the browser", "node", "await cdp.send('Browser.close'); await page.goto('{SITE}/'); await page.title()", "Start"),
    // Network access from pages.
    ("a page of the server", "node", "String(await status('http://127.0.0.1:{PORT}/'))", "403"),
    ("a local service", "node", "String(await status('http://localhost:{CANARY}/'))", "403"),
    ("loopback as a number", "node", "String(await status('http://2130706433:{CANARY}/'))", "403"),
    ("loopback in IPv6", "node", "String(await status('http://[::ffff:127.0.0.1]:{CANARY}/'))", "403"),
    ("the cloud metadata address", "node", "String(await status('http://169.254.169.254/latest/meta-data/'))", "403"),
    ("loopback over TLS", "node", "await attempt(() => page.goto('https://127.0.0.1:{CANARY}/'))", "ERR_TUNNEL_CONNECTION_FAILED"),
    ("a redirect to loopback", "node", "String(await status('{SITE}/away'))", "403"),
    ("a script's request to the server", "node", "await page.goto('{SITE}/'); await page.evaluate((url) => fetch(url, { mode: 'no-cors' }).then((a) => a.text()).then((t) => 'read ' + t.length), 'http://127.0.0.1:{PORT}/v2/team/activity')", "read 0"),
    ("a script's WebSocket", "node", "await page.evaluate((url) => new Promise((done) => { const s = new WebSocket(url); s.onopen = () => done('open'); s.onerror = () => done('refused'); }), 'ws://127.0.0.1:{CANARY}/')", "refused"),
    ("a script's request for a file", "node", "await page.evaluate(() => fetch('file:///etc/passwd').then(() => 'read', () => 'refused'))", "refused"),
    ("a file in a frame", "node", "await page.evaluate(() => new Promise((done) => { const f = document.createElement('iframe'); f.onload = () => done(f.contentDocument ? 'empty' : 'other'); f.src = 'file:///etc/passwd'; document.body.append(f); setTimeout(() => done('nothing'), 2000); }))", "empty|nothing|other"),
    ("the content of that frame", "node", "String(page.frames().some((frame) => frame.url().startsWith('file:')))", "false"),
];

#[tokio::test]
async fn hostile_code_and_pages_cannot_escape() {
    let knocks = Arc::new(AtomicU64::new(0));
    let canary = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let canary_port = canary.local_addr().unwrap().port();
    let counted = knocks.clone();
    tokio::spawn(async move {
        while canary.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let socket = format!("harvestman-canary-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&socket).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let file = std::path::Path::new("/tmp").join(&socket);
    let _file = UnixListener::bind(&file).unwrap();
    // Ends with this test, whatever its result, because its input does.
    let mut process = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();

    let away = format!("http://127.0.0.1:{canary_port}/");
    let site = Site::new()
        .page("/", Page::links("Start", &[]))
        .page("/other", Page::links("Other session", &[]))
        .page("/away", Page::redirect(302, &away))
        .serve()
        .await;
    let server = server(&format!("127.0.0.1:{}", site.address().port())).await;
    let data = server.data_dir().join("data");
    let other = open(&server).await;
    let there = format!("await page.goto('{}'); await page.title()", site.url("/other"));
    assert_eq!(run(&server, &other, "node", &there).await, "Other session");

    let id = open(&server).await;
    for (language, code) in PRELUDE {
        run(&server, &id, language, code).await;
    }
    let mut failed = Vec::new();
    for (name, language, code, expected) in PROBES {
        let code = code
            .replace("{DATA}", data.to_str().unwrap())
            .replace("{KEY}", KEY)
            .replace("{PID}", &process.id().to_string())
            .replace("{SERVER}", &server.pid().to_string())
            .replace("{PORT}", &server.address().port().to_string())
            .replace("{CANARY}", &canary_port.to_string())
            .replace("{SOCKET}", &socket)
            .replace("{SITE}", site.url("/").trim_end_matches('/'));
        let response = run(&server, &id, language, &code).await;
        let refused = expected.split('|').any(|word| match word.len() {
            // A longer text is part of the message of a library.
            12.. => response.contains(word),
            _ => response == word,
        });
        if !refused || response.starts_with("escaped") {
            failed.push(format!("{name}: {response}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(
        knocks.load(Ordering::Relaxed),
        0,
        "no connection reached the host"
    );
    assert!(
        process.try_wait().unwrap().is_none(),
        "the process is still running"
    );
    let left: Vec<_> = fs::read_dir(&data)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(
        !left.iter().any(|name| name.to_string_lossy().contains("probe")),
        "{left:?}"
    );
    assert_eq!(
        run(&server, &other, "node", "await page.title()").await,
        "Other session"
    );

    process.kill().unwrap();
    process.wait().unwrap();
    fs::remove_file(file).unwrap();
}

/// The list in the documentation must contain every probe.
#[test]
fn the_documentation_lists_every_probe() {
    let page = include_str!("../../docs/SANDBOX.md");
    let missing: Vec<&str> = PROBES
        .iter()
        .map(|probe| probe.0)
        .filter(|name| !page.contains(&format!("| {name} |")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

async fn server(allowed: &str) -> TestServer {
    let path = |name: &str| tools::path(name).into_os_string().into_string().unwrap();
    TestServer::start_with(&[
        tools::chromium(),
        ("HARVESTMAN_PYTHON", &path("HARVESTMAN_TEST_PYTHON")),
        ("HARVESTMAN_ALLOW_PRIVATE_HOSTS", allowed),
        ("HARVESTMAN_MAX_SESSIONS", "4"),
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn code_needs_only_its_own_language() {
    let path = |name: &str| tools::path(name).into_os_string().into_string().unwrap();
    let (node, python) = (path("HARVESTMAN_TEST_NODE"), path("HARVESTMAN_TEST_PYTHON"));
    let code = [("node", "await page.title()"), ("python", "await page.title()")];
    for (node, python, works) in [
        (&*node, "off", [true, false]),
        ("off", &*python, [false, true]),
        ("off", "off", [false, false]),
    ] {
        let server = TestServer::start_with(&[
            tools::chromium(),
            ("HARVESTMAN_NODE", node),
            ("HARVESTMAN_PYTHON", python),
        ])
        .await;
        let id = open(&server).await;
        for ((language, code), works) in code.into_iter().zip(works) {
            let request = json!({"code": code, "language": language, "timeout": 60});
            let response = server.post(&format!("/v2/browser/{id}/execute"), &request).await;
            if works {
                assert_eq!(response.ok()["exitCode"], 0, "{language}");
            } else {
                response.is_error(503, "FEATURE_NOT_CONFIGURED");
                let variable = format!("HARVESTMAN_{}", language.to_uppercase());
                assert!(response.error().contains(&variable), "{}", response.error());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_node_is_refused_with_its_version() {
    let folder = Folder::new().unwrap();
    let node = folder.path().join("node");
    fs::write(&node, "#!/bin/sh\necho v18.20.4\n").unwrap();
    fs::set_permissions(&node, Permissions::from_mode(0o755)).unwrap();
    let server =
        TestServer::start_with(&[tools::chromium(), ("HARVESTMAN_NODE", node.to_str().unwrap())]).await;
    let request = json!({"code": "await page.title()", "language": "node"});
    let path = format!("/v2/browser/{}/execute", open(&server).await);
    let response = server.post(&path, &request).await;
    response.is_error(503, "FEATURE_NOT_CONFIGURED");
    for part in ["Node.js v18.20.4", "Node.js 20 or newer", "HARVESTMAN_NODE"] {
        assert!(response.error().contains(part), "{}", response.error());
    }
}

async fn open(server: &TestServer) -> String {
    let response = server.post("/v2/browser", &json!({})).await.ok();
    response["id"].as_str().unwrap().to_owned()
}

/// Runs code and returns its result or error as text.
async fn run(server: &TestServer, id: &str, language: &str, code: &str) -> String {
    let request = json!({"code": code, "language": language, "timeout": 60});
    let path = format!("/v2/browser/{id}/execute");
    let response = server.post(&path, &request).await.ok();
    match (&response["result"], &response["error"]) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        _ => format!("no result: {response}"),
    }
}
