//! Connection from the command line to a running server. A file in the data folder, readable only by its owner,
//! contains the server's address and a token that is valid until the server stops. Anyone who can read the file can
//! also read the database.

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use harvestman_fetch::{AllowList, FetchConfig, FetchRequest, Fetcher};
use harvestman_store::create_private;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::Command;
use crate::{keys, limits};

/// Path of the endpoint.
pub(crate) const PATH: &str = "/console/api/operator";

const FILE: &str = "harvestman.operator";

/// Address and token for operator commands of a running server.
#[derive(Serialize, Deserialize)]
pub(crate) struct OperatorEndpoint {
    address: SocketAddr,
    token: String,
}

impl OperatorEndpoint {
    /// Writes the file of this server and returns the hash of its token.
    pub(crate) fn publish(data_dir: &Path, listening_on: SocketAddr) -> anyhow::Result<[u8; 32]> {
        let endpoint = OperatorEndpoint {
            address: reachable_address(listening_on),
            token: keys::random_hex::<32>()?,
        };
        let path = file(data_dir);
        let text = serde_json::to_vec(&endpoint)?;
        create_private(&path)
            .and_then(|mut file| file.write_all(&text))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(keys::hash(&endpoint.token))
    }

    /// Removes the file when the server stops.
    pub(crate) fn remove(data_dir: &Path) {
        // The token of a remaining file is no longer valid.
        let _ = fs::remove_file(file(data_dir));
    }

    /// Sends a command to the server that holds the data folder and returns its output.
    pub(crate) async fn send(data_dir: &Path, command: &Command) -> anyhow::Result<String> {
        let endpoint = OperatorEndpoint::read(data_dir)
            .context("a server uses the data folder, but its connection file cannot be read")?;
        let body = serde_json::to_vec(command)?;
        let mut request = FetchRequest::post_json(endpoint.url(PATH)?, body.into(), deadline());
        request
            .headers
            .push(("Authorization".to_owned(), format!("Bearer {}", endpoint.token)));
        let (status, result) = endpoint.fetch(request).await?;
        let text = |field: &str| result[field].as_str().unwrap_or_default().to_owned();
        match status {
            200 => Ok(text("text")),
            _ => bail!("{}", text("error")),
        }
    }

    /// Returns the `/ready` response of the server that holds the data folder, and whether it is ready.
    pub(crate) async fn ready(data_dir: &Path) -> anyhow::Result<(Value, bool)> {
        let endpoint = OperatorEndpoint::read(data_dir).context("no server uses this data folder")?;
        let request = FetchRequest::get(endpoint.url("/ready")?, deadline());
        let (status, result) = endpoint.fetch(request).await?;
        Ok((result, status == 200))
    }

    fn read(data_dir: &Path) -> anyhow::Result<OperatorEndpoint> {
        let path = file(data_dir);
        let text = fs::read(&path).with_context(|| path.display().to_string())?;
        Ok(serde_json::from_slice(&text)?)
    }

    fn url(&self, path: &str) -> anyhow::Result<Url> {
        Ok(Url::parse(&format!("http://{}{path}", self.address))?)
    }

    /// Sends a request and returns the status and body of the response.
    async fn fetch(&self, request: FetchRequest) -> anyhow::Result<(u16, Value)> {
        let fetcher = Fetcher::new(FetchConfig {
            allow_private_hosts: AllowList::parse(&self.address.to_string()).map_err(anyhow::Error::msg)?,
            ..FetchConfig::default()
        })?;
        let response = fetcher
            .fetch(request)
            .await
            .with_context(|| format!("no response from the server at {}", self.address))?;
        Ok((response.status, serde_json::from_slice(&response.body)?))
    }
}

fn deadline() -> Instant {
    Instant::now() + limits::OPERATOR_TIME
}

fn file(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}

/// Returns the address at which this machine reaches the server.
fn reachable_address(listening_on: SocketAddr) -> SocketAddr {
    let ip = match listening_on.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listening_on.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_all_addresses_is_reached_on_loopback() {
        for (listening_on, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.168.1.4:80", "192.168.1.4:80"),
        ] {
            let reached = reachable_address(listening_on.parse().unwrap());
            assert_eq!(reached, expected.parse().unwrap());
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private_and_always_new() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("harvestman-endpoint-{}", uuid::Uuid::now_v7()));
        fs::create_dir_all(&folder).unwrap();
        let listening_on = "127.0.0.1:1".parse().unwrap();
        fs::write(file(&folder), "left over").unwrap();
        let first = OperatorEndpoint::publish(&folder, listening_on).unwrap();
        assert_ne!(OperatorEndpoint::publish(&folder, listening_on).unwrap(), first);
        let mode = fs::metadata(file(&folder)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        OperatorEndpoint::remove(&folder);
        assert!(!file(&folder).exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
