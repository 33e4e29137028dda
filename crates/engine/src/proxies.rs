//! The operator's proxies: the pools they belong to, and the health of each. A proxy that fails cools down, and
//! others are used meanwhile. [`routes`] chooses among them for one job.

mod routes;

use std::sync::Arc;

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::{Proxy as RequestedClass, ScrapeOptions};
use harvestman_fetch::Proxy;
use parking_lot::{Mutex, MutexGuard};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::time::{Duration, Instant};

use crate::limits;

pub(crate) use routes::{Fault, Faulty, Routes};

/// Class of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProxyClass {
    /// Low-cost proxies. Without a pool, such requests connect directly.
    Basic,
    /// High-quality proxies, for sites that block others.
    Enhanced,
}

/// A proxy and the pool it belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PooledProxy {
    /// Class of the pool; `None` for both classes.
    pub class: Option<ProxyClass>,
    /// Country of the pool, ISO 3166-1 alpha-2 in upper case; `None` for any country.
    pub country: Option<String>,
    /// The proxy.
    pub proxy: Proxy,
}

/// All proxies of this server. Clones share their health.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    members: Vec<Member>,
    requests: Family<[(&'static str, String); 2], Counter>,
    available: Family<[(&'static str, String); 1], Gauge>,
}

/// A proxy in its pool.
#[derive(Debug)]
struct Member {
    class: Option<ProxyClass>,
    country: Option<String>,
    proxy: Arc<Proxy>,
    /// The proxy without credentials, and a number if another one looks the same.
    label: String,
    health: Mutex<Health>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Health {
    /// Times that it cooled down since the last success.
    failures: u32,
    cools_until: Option<Instant>,
}

impl Proxies {
    /// Creates the proxies, all of them available.
    pub fn new(proxies: Vec<PooledProxy>) -> Proxies {
        let mut members: Vec<Member> = Vec::with_capacity(proxies.len());
        for PooledProxy {
            class,
            country,
            proxy,
        } in proxies
        {
            let shown = proxy.to_string();
            let same = members
                .iter()
                .filter(|other| other.proxy.to_string() == shown)
                .count();
            members.push(Member {
                class,
                country,
                proxy: Arc::new(proxy),
                label: match same {
                    0 => shown,
                    _ => format!("{shown}#{}", same + 1),
                },
                health: Mutex::default(),
            });
        }
        Proxies {
            shared: Arc::new(Shared {
                members,
                ..Shared::default()
            }),
        }
    }

    /// Checks that there is a proxy for the options. Without any proxy, every class is a direct connection.
    ///
    /// # Errors
    /// 503 if the options require the class `enhanced`, and only other proxies are configured.
    pub(crate) fn check(&self, options: &ScrapeOptions) -> Result<(), ApiError> {
        let requires_enhanced = matches!(options.proxy, RequestedClass::Enhanced | RequestedClass::Stealth);
        let country = &options.location.country;
        if !requires_enhanced
            || self.shared.members.is_empty()
            || !self.candidates(ProxyClass::Enhanced, Some(country)).is_empty()
        {
            return Ok(());
        }
        Err(ApiError::new(
            ErrorCode::NotConfigured,
            format!(
                "this server has no `enhanced` proxy for the country `{country}`; set `proxy` to `auto` or `basic`, \
                 or another `location.country`"
            ),
        ))
    }

    /// Returns the proxies of a class and country: those of the country, else those of any country.
    fn candidates(&self, class: ProxyClass, country: Option<&str>) -> Vec<usize> {
        let of = |country: Option<&str>| -> Vec<usize> {
            let members = self.shared.members.iter().enumerate();
            members
                .filter(|(_, member)| member.class.is_none_or(|own| own == class))
                .filter(|(_, member)| member.country.as_deref() == country)
                .map(|(index, _)| index)
                .collect()
        };
        let of_country = country.map(|country| of(Some(country)));
        of_country
            .filter(|members| !members.is_empty())
            .unwrap_or_else(|| of(None))
    }

    fn record_success(&self, index: usize) {
        let member = &self.shared.members[index];
        *member.health() = Health::default();
        self.count(member, "completed");
    }

    /// Counts a failure and lets the proxy cool down, each time twice as long. Failures while it cools down do not
    /// count again: they come from requests that were already in flight.
    fn record_failure(&self, index: usize) {
        let member = &self.shared.members[index];
        self.count(member, "failed");
        let mut health = member.health();
        let now = Instant::now();
        if health.cools_until.is_some_and(|until| until > now) {
            return;
        }
        health.failures = health.failures.saturating_add(1);
        let pause = cooldown(health.failures);
        health.cools_until = Some(now + pause);
        tracing::warn!(
            proxy = member.label,
            pause_seconds = pause.as_secs(),
            "a proxy failed and cools down"
        );
    }

    fn count(&self, member: &Member, outcome: &str) {
        let labels = [("proxy", member.label.clone()), ("outcome", outcome.to_owned())];
        self.shared.requests.get_or_create(&labels).inc();
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "proxy_requests",
            "Requests through each of the operator's proxies, by outcome",
            self.shared.requests.clone(),
        );
        registry.register(
            "proxy_available",
            "Whether each of the operator's proxies is available (1) or cools down after a failure (0)",
            self.shared.available.clone(),
        );
    }

    /// Sets the metrics that are read rather than counted.
    pub(crate) fn set_gauges(&self) {
        for member in &self.shared.members {
            let labels = [("proxy", member.label.clone())];
            let available = member.cools_until().is_none();
            self.shared.available.get_or_create(&labels).set(available.into());
        }
    }
}

impl Member {
    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock()
    }

    /// Returns when the proxy has cooled down; `None` if it is available.
    fn cools_until(&self) -> Option<Instant> {
        self.health().cools_until.filter(|until| *until > Instant::now())
    }
}

/// Returns how long a proxy cools down for the nth time in a row.
fn cooldown(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (limits::PROXY_COOLDOWN * 2_u32.pow(doublings)).min(limits::PROXY_MAX_COOLDOWN)
}
