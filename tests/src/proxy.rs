//! Real forward proxies on free ports of 127.0.0.1, with their logs.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::server::Folder;
use crate::tools;

/// Time limit for the start of a proxy.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A proxy that runs until it is dropped or killed.
pub struct TestProxy {
    child: Child,
    address: SocketAddr,
    folder: Folder,
}

impl TestProxy {
    /// Starts tinyproxy, an HTTP proxy, which requires `credentials` if there are any.
    pub fn http(credentials: Option<(&str, &str)>) -> TestProxy {
        TestProxy::start(|address, folder| {
            let mut settings = format!(
                "Listen {}\nPort {}\nTimeout 60\nMaxClients 1000\n",
                address.ip(),
                address.port()
            );
            if let Some((user, password)) = credentials {
                settings.push_str(&format!("BasicAuth {user} {password}\n"));
            }
            let file = folder.join("tinyproxy.conf");
            std::fs::write(&file, settings).unwrap();
            let mut command = Command::new(tools::path("HARVESTMAN_TEST_TINYPROXY"));
            command.arg("-d").arg("-c").arg(file);
            command
        })
    }

    /// Starts microsocks, a SOCKS proxy, which requires `credentials` if there are any.
    pub fn socks(credentials: Option<(&str, &str)>) -> TestProxy {
        TestProxy::start(|address, _| {
            let mut command = Command::new(tools::path("HARVESTMAN_TEST_MICROSOCKS"));
            command.args(["-i", &address.ip().to_string(), "-p", &address.port().to_string()]);
            if let Some((user, password)) = credentials {
                command.args(["-u", user, "-P", password]);
            }
            command
        })
    }

    fn start(command: impl Fn(SocketAddr, &Path) -> Command) -> TestProxy {
        let since = Instant::now();
        loop {
            let folder = Folder::new().unwrap();
            let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let log = std::fs::File::create(folder.log()).unwrap();
            let child = command(free, folder.path())
                .stdin(Stdio::null())
                .stdout(log.try_clone().unwrap())
                .stderr(log)
                .spawn()
                .unwrap();
            let mut proxy = TestProxy {
                child,
                address: free,
                folder,
            };
            // It exits if any other socket took the port meanwhile, such as that of an outgoing connection.
            while proxy.child.try_wait().unwrap().is_none() && since.elapsed() < TIMEOUT {
                if TcpStream::connect(free).is_ok() {
                    return proxy;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            assert!(
                since.elapsed() < TIMEOUT,
                "a proxy does not start:\n{}",
                proxy.log()
            );
        }
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.log()).unwrap_or_default()
    }

    /// Returns the number of connections to `target` in its log.
    pub fn connections_to(&self, target: SocketAddr) -> usize {
        let (connect, connected) = (format!("CONNECT {target} "), format!("connected to {target}"));
        let log = self.log();
        log.lines()
            .filter(|line| line.contains(&connect) || line.ends_with(&connected))
            .count()
    }

    /// Ends the proxy and all its connections.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for TestProxy {
    fn drop(&mut self) {
        self.kill();
    }
}
