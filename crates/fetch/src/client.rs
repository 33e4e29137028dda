//! The fetcher: turns a request into a complete response or an error, before the deadline.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::header::{self, HeaderValue};
use http::{HeaderMap, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout, timeout_at};
use url::{Host, Url};

use crate::body::{self, BodyLimits, WholeBody};
use crate::budget::Budget;
use crate::connect::{self, Dial, Stream, TcpDialer};
use crate::cookies::CookieJar;
use crate::decode;
use crate::error::FetchError;
use crate::guard::{AllowList, Guard, is_private};
use crate::limits;
use crate::pool::{Connection, Delivery, Origin, Pool, SendError};
use crate::proxy::tunnel::{self, Destination, TunnelError};
use crate::proxy::{Protocol, Proxy};
use crate::redirect::{Hop, RedirectChain};
use crate::request::{FetchRequest, FetchResponse};
use crate::resolve::{DnsResolver, Resolve, ResolveError};
use crate::tls::Tls;

const ACCEPT: HeaderValue =
    HeaderValue::from_static("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
const ACCEPT_LANGUAGE: HeaderValue = HeaderValue::from_static("en-US,en;q=0.9");
const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static(decode::ACCEPTED);

/// Settings of a fetcher.
#[derive(Clone, Debug)]
pub struct FetchConfig {
    /// Default `User-Agent`.
    pub user_agent: String,
    /// Private targets that may be reached.
    pub allow_private_hosts: AllowList,
    /// Name servers; empty for those of the system.
    pub dns_servers: Vec<SocketAddr>,
    /// The address that this server listens on, as bound; rejected as a target.
    pub listen: Option<SocketAddr>,
    /// Maximum bytes of all bodies in flight; beyond it, fetches wait.
    pub body_budget_bytes: u64,
    /// Certificates (DER) trusted in addition to the public roots.
    pub extra_roots: Vec<Vec<u8>>,
}

impl Default for FetchConfig {
    fn default() -> FetchConfig {
        FetchConfig {
            user_agent: concat!(
                "Mozilla/5.0 (compatible; Harvestman/",
                env!("CARGO_PKG_VERSION"),
                ")"
            )
            .to_owned(),
            allow_private_hosts: AllowList::default(),
            dns_servers: Vec::new(),
            listen: None,
            body_budget_bytes: limits::BODY_BUDGET_BYTES,
            extra_roots: Vec::new(),
        }
    }
}

/// Fetches URLs. Clones share connections, the DNS cache and the memory budget.
#[derive(Clone)]
pub struct Fetcher {
    shared: Arc<Shared>,
}

struct Shared {
    user_agent: HeaderValue,
    guard: Guard,
    resolver: Arc<dyn Resolve>,
    dialer: Arc<dyn Dial>,
    tls: Tls,
    pool: Arc<Pool>,
    budget: Budget,
}

/// A target with checked addresses.
struct Target {
    host: String,
    port: u16,
    /// Empty if a proxy resolves the name.
    addresses: Vec<SocketAddr>,
}

impl Fetcher {
    /// Creates a fetcher that resolves by DNS and dials over TCP.
    ///
    /// # Errors
    /// [`FetchError::Config`] if a setting is invalid.
    pub fn new(config: FetchConfig) -> Result<Fetcher, FetchError> {
        let resolver = Arc::new(DnsResolver::new(&config.dns_servers)?);
        Fetcher::with_parts(config, resolver, Arc::new(TcpDialer))
    }

    /// Creates a fetcher with a custom resolver and dialer. Addresses are checked all the same.
    ///
    /// # Errors
    /// [`FetchError::Config`] if a setting is invalid.
    pub fn with_parts(
        config: FetchConfig,
        resolver: Arc<dyn Resolve>,
        dialer: Arc<dyn Dial>,
    ) -> Result<Fetcher, FetchError> {
        let user_agent = HeaderValue::from_str(&config.user_agent)
            .map_err(|_| FetchError::Config("the user agent has invalid characters".to_owned()))?;
        Ok(Fetcher {
            shared: Arc::new(Shared {
                user_agent,
                guard: Guard::new(config.allow_private_hosts, config.listen),
                resolver,
                dialer,
                tls: Tls::new(&config.extra_roots)?,
                pool: Arc::default(),
                budget: Budget::new(config.body_budget_bytes),
            }),
        })
    }

    /// Fetches a URL. Dropping the future closes the connection.
    ///
    /// # Errors
    /// Every [`FetchError`] but `Config`. A response with an error status is not an error.
    pub async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let deadline = Instant::from_std(request.deadline);
        // The future is large; boxing it keeps the futures of callers small.
        let result = timeout_at(deadline, Box::pin(self.shared.run(request))).await;
        result.unwrap_or(Err(FetchError::Timeout))
    }

    /// Opens a connection to the host of `url`, which the next request to it uses.
    ///
    /// # Errors
    /// As for [`Self::fetch`] before a request is sent.
    pub async fn connect(
        &self,
        url: &Url,
        verify_tls: bool,
        proxy: Option<Arc<Proxy>>,
    ) -> Result<(), FetchError> {
        let shared = &self.shared;
        let (target, origin) = shared.route(url, verify_tls, proxy).await?;
        let connection = match shared.pool.take(&origin, &target.addresses) {
            Some(connection) => connection,
            None => shared.connect(&target, &origin).await?,
        };
        shared.pool.put_back(origin, connection);
        Ok(())
    }

    /// Opens a connection to the host of `url` for the browser proxy, without sending anything.
    pub(crate) async fn open(&self, url: &Url, proxy: Option<&Proxy>) -> Result<Box<dyn Stream>, FetchError> {
        let target = self.shared.target(url, proxy).await?;
        let (stream, _) = self.shared.dial(&target, proxy).await?;
        Ok(stream)
    }

    /// Opens a connection to the host of `url` for HTTP/1.1, with TLS if the scheme is `https`.
    pub(crate) async fn open_secure(&self, url: &Url) -> Result<Box<dyn Stream>, FetchError> {
        let stream = self.open(url, None).await?;
        match url.scheme() {
            "https" => {
                let host = url.host_str().unwrap_or_default();
                self.shared.tls.secure_operator(stream, host).await
            }
            _ => Ok(stream),
        }
    }

    /// Resolves and checks a target of `proxy` without connecting, within [`limits::RESOLVE_TIMEOUT`]. A name that
    /// the proxy resolves is not resolved here.
    ///
    /// # Errors
    /// [`FetchError::InvalidRequest`], [`FetchError::Dns`] or [`FetchError::Unsafe`].
    pub async fn check_target(&self, url: &Url, proxy: Option<&Proxy>) -> Result<(), FetchError> {
        self.shared.target(url, proxy).await.map(drop)
    }

    /// Returns whether only the operator's allow list makes the host of `url` reachable. Returns false for an
    /// unreachable host, and for a name that the proxy resolves.
    pub async fn is_private(&self, url: &Url, proxy: Option<&Proxy>) -> bool {
        let target = self.shared.target(url, proxy).await;
        target.is_ok_and(|target| target.addresses.iter().any(|address| is_private(address.ip())))
    }
}

impl Shared {
    async fn run(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let headers = request.validate_headers()?;
        let jar = request.cookies.clone().unwrap_or_default();
        let mut chain = RedirectChain::new(request.max_redirects);
        let mut hop = Hop {
            url: request.url.clone(),
            method: request.method.clone(),
            headers,
            body: request.body.clone(),
        };
        loop {
            chain.enter(&hop.url, jar.header(&hop.url))?;
            let (response, origin, connection) = self.exchange(&hop, &jar, &request).await?;
            let (mut parts, incoming) = response.into_parts();
            check_head(&parts.headers, parts.status.as_u16(), &origin.host)?;
            jar.store(&hop.url, &parts.headers);
            let status = parts.status.as_u16();
            if let Some(location) = chain.target(status, &parts.headers) {
                hop = chain.follow(hop, status, location)?;
                if body::discard(incoming).await {
                    self.pool.put_back(origin, connection);
                }
                continue;
            }
            let deadline = Instant::from_std(request.deadline);
            let limits = BodyLimits {
                host: &origin.host,
                max_bytes: request.max_body_bytes,
                truncate: request.truncate,
                keep_partial: request.keep_partial,
                deadline,
            };
            let reading = body::read(incoming, &mut parts.headers, &self.budget, limits);
            let body = match request.body_time {
                None => reading.await?,
                Some(time) => timeout_at(deadline.min(Instant::now() + time), reading)
                    .await
                    .unwrap_or(Err(FetchError::Timeout))
                    .unwrap_or_else(WholeBody::left_out),
            };
            if body.drained {
                self.pool.put_back(origin, connection);
            }
            return Ok(FetchResponse {
                url: hop.url,
                redirects: chain.redirects,
                status,
                headers: parts.headers,
                body: body.bytes,
                truncated: body.truncated,
                incomplete: body.incomplete,
            });
        }
    }

    /// Sends one request and returns the head of its response. Retries on a new connection if the first one is
    /// dead or refuses the request and sending it again is safe.
    async fn exchange(
        &self,
        hop: &Hop,
        jar: &CookieJar,
        request: &FetchRequest,
    ) -> Result<(Response<Incoming>, Origin, Connection), FetchError> {
        let (target, origin) = self
            .route(&hop.url, request.verify_tls, request.proxy.clone())
            .await?;
        let mut pooled = self.pool.take(&origin, &target.addresses);
        let mut sends = 0;
        loop {
            let was_pooled = pooled.is_some();
            let mut connection = match pooled.take() {
                Some(connection) => connection,
                None => self.connect(&target, &origin).await?,
            };
            sends += 1;
            match connection.send(self.request(hop, jar)?).await {
                Ok(response) => return Ok((response, origin, connection)),
                Err(SendError::TooManyInterim) => return Err(too_many_interim(&origin.host)),
                Err(SendError::Failed { error, delivery }) => {
                    let can_resend = match delivery {
                        Delivery::Refused => true,
                        Delivery::NotSent => was_pooled,
                        Delivery::GoneAway => hop.method.is_idempotent(),
                        Delivery::Unknown => was_pooled && hop.method.is_idempotent() && !error.is_parse(),
                    };
                    if !can_resend || sends == limits::MAX_SENDS {
                        return Err(body::http_error(&error, &origin.host));
                    }
                }
            }
        }
    }

    async fn route(
        &self,
        url: &Url,
        verify_tls: bool,
        proxy: Option<Arc<Proxy>>,
    ) -> Result<(Target, Origin), FetchError> {
        let target = self.target(url, proxy.as_deref()).await?;
        let origin = Origin {
            host: target.host.clone(),
            port: target.port,
            tls: (url.scheme() == "https").then_some(verify_tls),
            proxy,
        };
        Ok((target, origin))
    }

    /// Opens a connection, or shares an HTTP/2 connection that another request has just opened.
    async fn connect(&self, target: &Target, origin: &Origin) -> Result<Connection, FetchError> {
        let opening = match origin.tls {
            None => None,
            Some(_) => match self.pool.opening(origin).await {
                Some(opening) => Some(opening),
                None => match self.pool.take(origin, &target.addresses) {
                    Some(shared) => return Ok(shared),
                    None => None,
                },
            },
        };
        let (stream, address) = self.dial(target, origin.proxy.as_deref()).await?;
        let (stream, h2) = match origin.tls {
            None => (stream, false),
            Some(verify) => self.tls.secure(stream, &target.host, verify).await?,
        };
        let connection = Connection::start(stream, h2, address)
            .await
            .map_err(|error| body::http_error(&error, &target.host))?;
        self.pool.share(origin, &connection);
        drop(opening);
        Ok(connection)
    }

    /// Connects to a target, directly or through a proxy. Returns the address, unless the proxy resolves the name.
    async fn dial(
        &self,
        target: &Target,
        proxy: Option<&Proxy>,
    ) -> Result<(Box<dyn Stream>, Option<SocketAddr>), FetchError> {
        let Some(proxy) = proxy else {
            let (stream, address) = connect::connect(&*self.dialer, &target.host, &target.addresses).await?;
            return Ok((stream, Some(address)));
        };
        if target.addresses.is_empty() {
            let destination = Destination::Name(&target.host, target.port);
            return Ok((self.tunnel(target, proxy, destination).await?, None));
        }
        // A proxy is more likely to have a route to an IPv4 address.
        let mut addresses = target.addresses.clone();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        addresses.truncate(limits::MAX_PROXIED_ADDRESSES);
        let mut failure = None;
        for address in addresses {
            match self.tunnel(target, proxy, Destination::Address(address)).await {
                Ok(stream) => return Ok((stream, Some(address))),
                Err(error @ FetchError::Connect { .. }) => failure = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failure.expect("there is at least one address"))
    }

    /// Opens a tunnel through a proxy, within [`limits::PROXY_TIMEOUT`] once the proxy is connected.
    async fn tunnel(
        &self,
        target: &Target,
        proxy: &Proxy,
        destination: Destination<'_>,
    ) -> Result<Box<dyn Stream>, FetchError> {
        let failed = |reason: String, at_fault: bool| FetchError::Proxy {
            host: target.host.clone(),
            reason,
            at_fault,
        };
        let stream = self
            .dial_proxy(proxy)
            .await
            .map_err(|reason| failed(reason, true))?;
        let opening = async {
            let stream = match proxy.protocol() {
                Protocol::Http | Protocol::Socks5 => stream,
                Protocol::Https => {
                    let secured = self.tls.secure_operator(stream, proxy.host()).await;
                    secured.map_err(|error| TunnelError::Proxy(error.to_string()))?
                }
            };
            tunnel::open(proxy, stream, destination).await
        };
        match timeout(limits::PROXY_TIMEOUT, opening).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(TunnelError::Proxy(reason))) => Err(failed(reason, true)),
            Ok(Err(TunnelError::Target(reason))) => Err(FetchError::Connect {
                host: target.host.clone(),
                reason,
            }),
            Err(_) => Err(failed("the proxy did not respond".to_owned(), false)),
        }
    }

    /// Connects to a proxy. Its own address is the operator's choice and is not checked.
    async fn dial_proxy(&self, proxy: &Proxy) -> Result<Box<dyn Stream>, String> {
        let addresses = match proxy.address() {
            Some(address) => vec![address],
            None => {
                let found = timeout(limits::RESOLVE_TIMEOUT, self.resolver.resolve(proxy.host())).await;
                let found = found.unwrap_or(Err(ResolveError::Failed));
                found.map_err(|_| "the name of the proxy does not resolve".to_owned())?
            }
        };
        let at_port = |address| SocketAddr::new(address, proxy.port());
        let addresses: Vec<_> = addresses.into_iter().map(at_port).collect();
        match connect::connect(&*self.dialer, proxy.host(), &addresses).await {
            Ok((stream, _)) => Ok(stream),
            Err(FetchError::Connect { reason, .. }) => Err(reason.replace("the server", "the proxy")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Resolves a name once, with its own timeout, and checks every address. A name that the proxy resolves is
    /// checked only as a name.
    async fn target(&self, url: &Url, proxy: Option<&Proxy>) -> Result<Target, FetchError> {
        let refused = |reason: &str| Err(FetchError::InvalidRequest(reason.to_owned()));
        if !matches!(url.scheme(), "http" | "https") {
            return refused("only http and https URLs can be fetched");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("the URL must not contain credentials");
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return refused("the URL has no host");
        };
        if port == 0 {
            return refused("port 0 is not valid");
        }
        let name = host_of(url);
        let answers: Vec<IpAddr> = match host {
            Host::Ipv4(address) => vec![address.into()],
            Host::Ipv6(address) => vec![address.into()],
            Host::Domain(domain) if proxy.is_some_and(Proxy::resolves_names) => {
                if !is_loopback_name(domain) {
                    return Ok(Target {
                        host: name,
                        port,
                        addresses: Vec::new(),
                    });
                }
                vec![Ipv4Addr::LOCALHOST.into()]
            }
            Host::Domain(domain) => {
                let found = timeout(limits::RESOLVE_TIMEOUT, self.resolver.resolve(domain)).await;
                found
                    .unwrap_or(Err(ResolveError::Failed))
                    .map_err(|error| FetchError::Dns {
                        host: name.clone(),
                        transient: error == ResolveError::Failed,
                    })?
            }
        };
        if answers.len() > limits::MAX_ADDRESSES {
            return Err(FetchError::Dns {
                host: name,
                transient: false,
            });
        }
        match self.guard.permitted_addresses(&name, port, &answers) {
            Some(addresses) => Ok(Target {
                host: name,
                port,
                addresses,
            }),
            None => Err(FetchError::Unsafe { host: name }),
        }
    }

    fn request(&self, hop: &Hop, jar: &CookieJar) -> Result<Request<Full<bytes::Bytes>>, FetchError> {
        let invalid = |what: &str| FetchError::InvalidRequest(format!("{what} has invalid characters"));
        let mut url = hop.url.clone();
        url.set_fragment(None);
        let uri: Uri = url.as_str().parse().map_err(|_| invalid("the URL"))?;
        let authority = uri
            .authority()
            .ok_or_else(|| invalid("the host"))?
            .as_str()
            .to_owned();
        let mut headers = HeaderMap::new();
        headers.insert(
            header::HOST,
            HeaderValue::from_str(&authority).map_err(|_| invalid("the host"))?,
        );
        headers.insert(header::USER_AGENT, self.user_agent.clone());
        headers.insert(header::ACCEPT, ACCEPT);
        headers.insert(header::ACCEPT_LANGUAGE, ACCEPT_LANGUAGE);
        headers.insert(header::ACCEPT_ENCODING, ACCEPT_ENCODING);
        for name in hop.headers.keys() {
            headers.remove(name);
            for value in hop.headers.get_all(name) {
                headers.append(name, value.clone());
            }
        }
        if let Some(cookies) = jar.header(&hop.url) {
            let mut cookie = headers
                .get(header::COOKIE)
                .map_or(Vec::new(), |own| [own.as_bytes(), b"; "].concat());
            cookie.extend_from_slice(cookies.as_bytes());
            headers.insert(
                header::COOKIE,
                HeaderValue::from_bytes(&cookie).map_err(|_| invalid("a cookie"))?,
            );
        }
        let mut request = Request::new(Full::new(hop.body.clone()));
        *request.method_mut() = hop.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

/// Returns whether a name always means this machine (RFC 6761, 6.3).
fn is_loopback_name(domain: &str) -> bool {
    let domain = domain.trim_end_matches('.');
    domain == "localhost" || domain.ends_with(".localhost")
}

/// Rejects heads that are too long or ambiguous.
fn check_head(headers: &HeaderMap, status: u16, host: &str) -> Result<(), FetchError> {
    let refused = |reason: String| {
        Err(FetchError::Protocol {
            host: host.to_owned(),
            reason,
        })
    };
    if headers.len() > limits::MAX_RESPONSE_HEADERS {
        return refused(format!(
            "it has more than {} header fields",
            limits::MAX_RESPONSE_HEADERS
        ));
    }
    if headers.contains_key(header::TRANSFER_ENCODING) && headers.contains_key(header::CONTENT_LENGTH) {
        return refused("it has both Content-Length and Transfer-Encoding".to_owned());
    }
    let mut locations = headers.get_all(header::LOCATION).iter();
    if let Some(first) = locations.next()
        && locations.any(|other| other != first)
    {
        return refused("it redirects to more than one URL".to_owned());
    }
    if status < 200 {
        return refused("it switches to another protocol".to_owned());
    }
    Ok(())
}

fn too_many_interim(host: &str) -> FetchError {
    FetchError::Protocol {
        host: host.to_owned(),
        reason: format!(
            "it has more than {} interim responses",
            limits::MAX_INTERIM_RESPONSES
        ),
    }
}

fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}
