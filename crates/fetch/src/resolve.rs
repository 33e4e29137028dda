//! Name resolution. [`crate::Guard`] decides which of the addresses may be used.

use std::net::{IpAddr, SocketAddr};

use futures_util::future::BoxFuture;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use crate::error::FetchError;
use crate::limits;

/// Why a name has no addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResolveError {
    /// The name does not exist or has no address.
    NotFound,
    /// No name server responded.
    Failed,
}

/// Resolves a host name to all its addresses. Each target is resolved by exactly one call.
pub trait Resolve: Send + Sync + 'static {
    /// Returns all addresses of `host`, never an empty list.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>>;
}

/// Queries the configured name servers, or those of the system.
pub struct DnsResolver {
    inner: TokioResolver,
}

impl DnsResolver {
    /// Creates a resolver that queries `servers`, or those of the system if the list is empty. Without any name
    /// server it still resolves the names in the hosts file and loopback.
    ///
    /// # Errors
    /// [`FetchError::Config`] if the settings are invalid.
    pub fn new(servers: &[SocketAddr]) -> Result<DnsResolver, FetchError> {
        let (config, mut options) = if servers.is_empty() {
            hickory_resolver::system_conf::read_system_conf().unwrap_or_else(|error| {
                tracing::warn!(%error, "this system has no usable name server settings");
                (ResolverConfig::default(), ResolverOpts::default())
            })
        } else {
            let servers = servers.iter().map(|server| name_server(*server)).collect();
            (
                ResolverConfig::from_parts(None, Vec::new(), servers),
                ResolverOpts::default(),
            )
        };
        options.timeout = limits::DNS_TIMEOUT;
        options.attempts = limits::DNS_ATTEMPTS;
        options.num_concurrent_reqs = limits::DNS_SERVERS_AT_ONCE;
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.cache_size = limits::DNS_CACHE_ENTRIES;
        options.positive_max_ttl = Some(limits::DNS_MAX_TTL);
        options.negative_max_ttl = Some(limits::DNS_MAX_NEGATIVE_TTL);
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        *builder.options_mut() = options;
        let inner = builder
            .build()
            .map_err(|error| FetchError::Config(format!("invalid name server settings: {error}")))?;
        Ok(DnsResolver { inner })
    }
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let at_port = |mut connection: ConnectionConfig| {
        connection.port = address.port();
        connection
    };
    NameServerConfig::new(
        address.ip(),
        true,
        vec![at_port(ConnectionConfig::udp()), at_port(ConnectionConfig::tcp())],
    )
}

impl Resolve for DnsResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        Box::pin(async move {
            match self.inner.lookup_ip(host).await {
                Ok(found) => {
                    let addresses: Vec<IpAddr> = found.iter().collect();
                    if addresses.is_empty() {
                        Err(ResolveError::NotFound)
                    } else {
                        Ok(addresses)
                    }
                }
                Err(error) if is_final(&error) => Err(ResolveError::NotFound),
                Err(error) => {
                    tracing::debug!(host, %error, "name resolution failed");
                    Err(ResolveError::Failed)
                }
            }
        })
    }
}

fn is_final(error: &NetError) -> bool {
    error.is_nx_domain() || error.is_no_records_found()
}
