//! State that a cluster node needs to forward requests to other nodes; [`forward`] does the forwarding.

use harvestman_core::cluster::ClusterSecret;
use harvestman_core::interact::TokenKey;
use harvestman_fetch::Fetcher;

pub(crate) mod forward;

/// The secret of the cluster, and the fetcher for requests to other nodes.
pub struct Cluster {
    secret: ClusterSecret,
    token_key: TokenKey,
    /// May connect to any address, but is only used for the URLs of nodes.
    fetcher: Fetcher,
}

impl Cluster {
    /// Creates the forwarder of a node.
    pub fn new(secret: ClusterSecret, fetcher: Fetcher) -> Self {
        let token_key = secret.token_key();
        Self {
            secret,
            token_key,
            fetcher,
        }
    }
}

/// Marks a request that another node has forwarded; in the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct ForwardedRequest {
    /// Base URL that the client used at the other node.
    pub(crate) base: String,
}
