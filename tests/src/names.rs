//! A DNS server in this process: every name under `.test` resolves to 127.0.0.1, except names that begin with
//! `nowhere`, which do not exist.

use std::net::SocketAddr;

use tokio::net::UdpSocket;
use tokio_util::task::AbortOnDropHandle;

const HEADER_BYTES: usize = 12;
const TYPE_A: [u8; 2] = [0, 1];

/// A running DNS server.
pub struct NameServer {
    address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

impl NameServer {
    /// Starts a DNS server on a free port of 127.0.0.1.
    pub async fn serve() -> NameServer {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port is free");
        let address = socket.local_addr().expect("the socket is bound");
        let task = tokio::spawn(async move {
            let mut packet = [0; 1500];
            while let Ok((length, client)) = socket.recv_from(&mut packet).await {
                if let Some(response) = dns_response(&packet[..length]) {
                    let _ = socket.send_to(&response, client).await;
                }
            }
        });
        NameServer {
            address,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Returns its address in the format of `HARVESTMAN_DNS_SERVERS`.
    pub fn setting(&self) -> String {
        self.address.to_string()
    }
}

/// Builds the answer to the first question of a packet (RFC 1035 section 4).
fn dns_response(packet: &[u8]) -> Option<Vec<u8>> {
    let name_length = packet.get(HEADER_BYTES..)?.iter().position(|byte| *byte == 0)? + 1;
    let question = packet.get(HEADER_BYTES..HEADER_BYTES + name_length + 4)?;
    let name = question[..name_length].to_ascii_lowercase();
    let exists = name.ends_with(b"\x04test\0") && !name[1..].starts_with(b"nowhere");
    let has_address = exists && question[name_length..name_length + 2] == TYPE_A;
    let mut response = packet[..2].to_vec();
    response.extend([
        0x81,
        if exists { 0x80 } else { 0x83 },
        0,
        1,
        0,
        u8::from(has_address),
        0,
        0,
        0,
        0,
    ]);
    response.extend_from_slice(question);
    if has_address {
        response.extend([
            0xc0, HEADER_BYTES as u8, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1,
        ]);
    }
    Some(response)
}
