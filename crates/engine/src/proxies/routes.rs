//! The proxies of one job. A host keeps the same proxy while it is available, although no host is remembered: each
//! proxy has a random rank for each host of a job (rendezvous hashing), and the first available one is used.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use harvestman_core::api::options::{Proxy as RequestedClass, ScrapeOptions};
use harvestman_fetch::{FetchError, FetchRequest, FetchResponse, Fetcher, Proxy};
use tokio::time::{Instant, timeout};
use url::Url;

use super::{Proxies, ProxyClass};
use crate::limits;

/// How the pages of one job reach their sites.
#[derive(Debug)]
pub(crate) struct Routes {
    proxies: Proxies,
    basic: Vec<usize>,
    enhanced: Vec<usize>,
    first: ProxyClass,
    second: Option<ProxyClass>,
    ranks: RandomState,
}

/// Whether a proxy may have caused an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The proxy did not cause it.
    No,
    /// The proxy caused it if the same request succeeds through another one.
    Perhaps,
    /// The proxy caused it.
    Yes,
}

/// An error of a request through a proxy.
pub(crate) trait Faulty {
    /// Returns whether the proxy may have caused it.
    fn fault(&self) -> Fault;
}

impl Faulty for FetchError {
    fn fault(&self) -> Fault {
        match self {
            FetchError::Proxy { at_fault: true, .. } => Fault::Yes,
            FetchError::Proxy { .. }
            | FetchError::Connect { .. }
            | FetchError::Reset { .. }
            | FetchError::Tls { .. }
            | FetchError::Protocol { .. } => Fault::Perhaps,
            _ => Fault::No,
        }
    }
}

impl Routes {
    /// Creates the routes of a job with these options.
    pub(crate) fn new(proxies: &Proxies, options: &ScrapeOptions) -> Routes {
        Routes::with_class(proxies, options.proxy, Some(&options.location.country))
    }

    fn with_class(proxies: &Proxies, class: RequestedClass, country: Option<&str>) -> Routes {
        let basic = proxies.candidates(ProxyClass::Basic, country);
        let enhanced = proxies.candidates(ProxyClass::Enhanced, country);
        let first = match class {
            RequestedClass::Basic | RequestedClass::Auto => ProxyClass::Basic,
            RequestedClass::Enhanced | RequestedClass::Stealth => ProxyClass::Enhanced,
        };
        let has_second = class == RequestedClass::Auto && !enhanced.is_empty() && enhanced != basic;
        Routes {
            proxies: proxies.clone(),
            basic,
            enhanced,
            first,
            second: has_second.then_some(ProxyClass::Enhanced),
            ranks: RandomState::new(),
        }
    }

    /// Returns the class to use first.
    pub(crate) fn first(&self) -> ProxyClass {
        self.first
    }

    /// Returns the class to use if the site blocks the first one, if any.
    pub(crate) fn second(&self) -> Option<ProxyClass> {
        self.second
    }

    /// Returns `metadata.proxyUsed` of a page that was fetched with this class.
    pub(crate) fn proxy_used(&self, class: ProxyClass) -> &'static str {
        match class {
            ProxyClass::Enhanced if !self.enhanced.is_empty() => "stealth",
            ProxyClass::Basic | ProxyClass::Enhanced => "basic",
        }
    }

    /// Returns the proxy that the next request of a class to the host of `url` uses; `None` connects directly.
    pub(crate) fn proxy(&self, class: ProxyClass, url: &Url) -> Option<Arc<Proxy>> {
        let index = self.pick(class, host_of(url), &[])?;
        Some(self.proxies.shared.members[index].proxy.clone())
    }

    /// Returns the proxy for the next connection of a session; `None` connects directly.
    pub(crate) fn session_proxy(&self) -> Option<Arc<Proxy>> {
        let index = self.pick(self.first, "", &[])?;
        Some(self.proxies.shared.members[index].proxy.clone())
    }

    /// Fetches a page; see [`Self::attempt`].
    pub(crate) async fn fetch(
        &self,
        fetcher: &Fetcher,
        class: ProxyClass,
        request: FetchRequest,
    ) -> Result<FetchResponse, FetchError> {
        if self.candidates(class).is_empty() {
            return fetcher.fetch(request).await;
        }
        let url = request.url.clone();
        let send = |proxy| {
            fetcher.fetch(FetchRequest {
                proxy,
                ..request.clone()
            })
        };
        self.attempt(class, &url, send).await
    }

    /// Opens a connection to a site whose scheme is a guess, which the first request to it then uses. Takes at most half
    /// of the time until `deadline`, so that the other scheme can be tried.
    pub(crate) async fn connect_guessed(
        &self,
        fetcher: &Fetcher,
        class: ProxyClass,
        url: &Url,
        verify_tls: bool,
        deadline: Instant,
    ) -> Result<(), FetchError> {
        let limit = deadline.saturating_duration_since(Instant::now()) / 2;
        let connect = |proxy| fetcher.connect(url, verify_tls, proxy);
        timeout(limit, self.attempt(class, url, connect))
            .await
            .unwrap_or_else(|_| {
                Err(FetchError::Connect {
                    host: host_of(url).to_owned(),
                    reason: format!("no connection within {} s", limit.as_secs_f32()),
                })
            })
    }

    /// Sends a request through a proxy of this class, and through others if that one fails. `send` receives the
    /// proxy, or `None` for a direct connection if the class has no proxies.
    pub(crate) async fn attempt<T, E: Faulty, F: Future<Output = Result<T, E>>>(
        &self,
        class: ProxyClass,
        url: &Url,
        send: impl Fn(Option<Arc<Proxy>>) -> F,
    ) -> Result<T, E> {
        let host = host_of(url);
        let (mut tried, mut suspects) = (Vec::new(), Vec::new());
        let Some(mut index) = self.pick(class, host, &tried) else {
            return send(None).await;
        };
        loop {
            let result = send(Some(self.proxies.shared.members[index].proxy.clone())).await;
            let fault = result.as_ref().map_or_else(Faulty::fault, |_| Fault::No);
            match fault {
                Fault::No => {
                    self.proxies.record_success(index);
                    if result.is_ok() {
                        // The site responds, so the earlier failures were the fault of their proxies.
                        suspects
                            .into_iter()
                            .for_each(|suspect| self.proxies.record_failure(suspect));
                    }
                    return result;
                }
                Fault::Perhaps => suspects.push(index),
                Fault::Yes => self.proxies.record_failure(index),
            }
            tried.push(index);
            match self.pick(class, host, &tried) {
                Some(next) if tried.len() < limits::PROXIES_TRIED => index = next,
                _ => return result,
            }
        }
    }

    fn candidates(&self, class: ProxyClass) -> &[usize] {
        match class {
            ProxyClass::Basic => &self.basic,
            ProxyClass::Enhanced => &self.enhanced,
        }
    }

    /// Returns the best untried proxy for a host: the first available one, else the one that is available soonest.
    fn pick(&self, class: ProxyClass, host: &str, tried: &[usize]) -> Option<usize> {
        let rank = |index: &usize| {
            let cools_until = self.proxies.shared.members[*index].cools_until();
            (cools_until, self.ranks.hash_one((host, index)))
        };
        let candidates = self.candidates(class).iter().copied();
        candidates.filter(|index| !tried.contains(index)).min_by_key(rank)
    }
}

fn host_of(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::{Value, json};

    use super::super::PooledProxy;
    use super::*;

    fn proxies(list: &[(Option<ProxyClass>, Option<&str>, &str)]) -> Proxies {
        let pooled = list.iter().map(|(class, country, url)| PooledProxy {
            class: *class,
            country: country.map(str::to_owned),
            proxy: Proxy::parse(url, false).unwrap(),
        });
        Proxies::new(pooled.collect())
    }

    fn options(body: Value) -> ScrapeOptions {
        ScrapeOptions::from_json(body.to_string().as_bytes()).unwrap()
    }

    const BASIC: Option<ProxyClass> = Some(ProxyClass::Basic);
    const ENHANCED: Option<ProxyClass> = Some(ProxyClass::Enhanced);

    /// Errors of a simulated request.
    impl Faulty for Fault {
        fn fault(&self) -> Fault {
            *self
        }
    }

    /// Sends a simulated request and returns the ports of the proxies that it went through.
    async fn send(routes: &Routes, host: &str, fault: impl Fn(&str) -> Option<Fault>) -> Vec<String> {
        let url = Url::parse(&format!("http://{host}/")).unwrap();
        let used = RefCell::new(Vec::new());
        let send = |proxy: Option<Arc<Proxy>>| {
            let port = proxy.map_or_else(|| "direct".to_owned(), |proxy| proxy.to_string()[12..].to_owned());
            let result = fault(&port).map_or(Ok(()), Err);
            used.borrow_mut().push(port);
            std::future::ready(result)
        };
        let _ = routes.attempt(routes.first(), &url, send).await;
        used.into_inner()
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_keeps_its_proxy_and_a_failing_one_cools_down() {
        let proxies = proxies(&[
            (BASIC, None, "http://p.ab:1"),
            (BASIC, None, "http://p.ab:2"),
            (None, None, "http://p.ab:3"),
        ]);
        let routes = Routes::new(&proxies, &options(json!({})));
        let fine = |_: &str| None;
        let first = send(&routes, "a.test", fine).await;
        for _ in 0..20 {
            assert_eq!(send(&routes, "a.test", fine).await, first);
        }
        let mut used = Vec::new();
        for number in 0..50 {
            used.extend(send(&routes, &format!("{number}.test"), fine).await);
        }
        for port in ["1", "2", "3"] {
            assert!(used.iter().any(|used| used == port), "{used:?}");
        }

        let broken = |port: &str| (port == first[0]).then_some(Fault::Yes);
        let through = send(&routes, "a.test", broken).await;
        assert_eq!((through.len(), &through[0]), (2, &first[0]));
        let second = send(&routes, "a.test", fine).await;
        assert_eq!(second, through[1..], "the first cools down");
        tokio::time::advance(limits::PROXY_COOLDOWN).await;
        assert_eq!(send(&routes, "a.test", fine).await, first, "and is used again");

        // If no proxy reaches the site, the proxies are not at fault; if another proxy does, this one is.
        let unreachable = send(&routes, "a.test", |_| Some(Fault::Perhaps)).await;
        assert_eq!((unreachable.len(), &unreachable[0]), (3, &first[0]));
        assert_eq!(send(&routes, "a.test", fine).await, first);
        send(&routes, "a.test", |port| {
            (port == first[0]).then_some(Fault::Perhaps)
        })
        .await;
        assert_ne!(send(&routes, "a.test", fine).await, first);
        for _ in 0..2 {
            send(&routes, "a.test", |_| Some(Fault::Yes)).await;
        }
        assert_eq!(
            send(&routes, "a.test", fine).await.len(),
            1,
            "one that cools down is better than none"
        );
    }

    #[tokio::test]
    async fn classes_and_countries_choose_the_pool() {
        let pools = proxies(&[
            (BASIC, None, "http://p.ab:1"),
            (BASIC, Some("DE"), "http://p.ab:2"),
            (ENHANCED, Some("DE"), "http://p.ab:3"),
        ]);
        let check = async |proxies: &Proxies, body: Value, port: &str, used: &str, has_second: bool| {
            let (routes, shown) = (Routes::new(proxies, &options(body.clone())), body.to_string());
            assert_eq!(send(&routes, "a.test", |_| None).await, [port], "{shown}");
            assert_eq!(routes.proxy_used(routes.first()), used, "{shown}");
            assert_eq!(routes.second().is_some(), has_second, "{shown}");
        };
        let german = |class: &str| json!({"proxy": class, "location": {"country": "de"}});
        check(&pools, json!({}), "1", "basic", false).await;
        check(&pools, german("auto"), "2", "basic", true).await;
        check(&pools, german("basic"), "2", "basic", false).await;
        check(&pools, german("enhanced"), "3", "stealth", false).await;
        check(&pools, german("stealth"), "3", "stealth", false).await;
        assert!(pools.check(&options(german("enhanced"))).is_ok());
        let refusal = pools.check(&options(json!({"proxy": "enhanced"}))).unwrap_err();
        assert!(
            refusal
                .message
                .contains("no `enhanced` proxy for the country `US`")
        );

        let enhanced = proxies(&[(ENHANCED, None, "http://p.ab:1")]);
        check(&enhanced, json!({}), "direct", "basic", true).await;
        let both = proxies(&[(None, None, "http://p.ab:1")]);
        check(&both, json!({}), "1", "basic", false).await;
        let none = Proxies::default();
        check(&none, json!({"proxy": "enhanced"}), "direct", "basic", false).await;
        assert!(none.check(&options(json!({"proxy": "enhanced"}))).is_ok());
    }
}
