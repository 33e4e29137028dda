//! The way from the command line into a running server: a file in the data folder, readable by its owner alone,
//! names the server's address and a token that is good until the server stops. Who can read it could read the
//! database as well.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use harvestman_fetch::{AllowList, FetchConfig, FetchRequest, Fetcher};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::Command;
use crate::{keys, limits};

/// Path of the server's side.
pub(crate) const PATH: &str = "/console/api/operator";

const FILE: &str = "harvestman.operator";

/// Where a running server takes commands.
#[derive(Serialize, Deserialize)]
pub(crate) struct Door {
    address: SocketAddr,
    token: String,
}

impl Door {
    /// Opens the door of this server; what its token is known by.
    pub(crate) fn open(data_dir: &Path, listening_on: SocketAddr) -> anyhow::Result<[u8; 32]> {
        let door = Door {
            address: reachable(listening_on),
            token: keys::random_hex::<32>()?,
        };
        let path = file(data_dir);
        let text = serde_json::to_vec(&door)?;
        write_privately(&path, &text).with_context(|| format!("writing {}", path.display()))?;
        Ok(keys::hash(&door.token))
    }

    /// Closes the door of a server that stops.
    pub(crate) fn close(data_dir: &Path) {
        // One that stays opens nothing.
        let _ = fs::remove_file(file(data_dir));
    }

    /// Hands a command to the server that holds the folder; what it printed.
    pub(crate) async fn ask(data_dir: &Path, command: &Command) -> anyhow::Result<String> {
        let path = file(data_dir);
        let text = fs::read(&path).with_context(|| {
            format!(
                "a server uses the data folder, but cannot be asked: reading {}",
                path.display()
            )
        })?;
        let door: Door = serde_json::from_slice(&text)?;
        let fetcher = Fetcher::new(FetchConfig {
            allow_private_hosts: AllowList::parse(&door.address.to_string()).map_err(anyhow::Error::msg)?,
            ..FetchConfig::default()
        })?;
        let url = Url::parse(&format!("http://{}{PATH}", door.address))?;
        let body = serde_json::to_vec(command)?;
        let mut request = FetchRequest::post_json(url, body.into(), Instant::now() + limits::OPERATOR_TIME);
        request
            .headers
            .push(("Authorization".to_owned(), format!("Bearer {}", door.token)));
        let answer = fetcher
            .fetch(request)
            .await
            .with_context(|| format!("the server at {} does not answer", door.address))?;
        let said: Value = serde_json::from_slice(&answer.body)?;
        let text = |field: &str| said[field].as_str().unwrap_or_default().to_owned();
        match answer.status {
            200 => Ok(text("text")),
            _ => bail!("{}", text("error")),
        }
    }
}

fn file(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}

/// The address as this machine reaches it.
fn reachable(listening_on: SocketAddr) -> SocketAddr {
    let ip = match listening_on.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listening_on.port())
}

/// Writes a new file that nobody else may ever read.
fn write_privately(path: &Path, text: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_everywhere_is_asked_here() {
        for (listening_on, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.168.1.4:80", "192.168.1.4:80"),
        ] {
            let reached = reachable(listening_on.parse().unwrap());
            assert_eq!(reached, expected.parse().unwrap());
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_alone_and_always_new() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("harvestman-door-{}", uuid::Uuid::now_v7()));
        fs::create_dir_all(&folder).unwrap();
        let listening_on = "127.0.0.1:1".parse().unwrap();
        fs::write(file(&folder), "left over").unwrap();
        let first = Door::open(&folder, listening_on).unwrap();
        assert_ne!(Door::open(&folder, listening_on).unwrap(), first);
        let mode = fs::metadata(file(&folder)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        Door::close(&folder);
        assert!(!file(&folder).exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
