//! The filter of a search request: domains and categories.

use url::Url;

use crate::api::search::{Category, SearchRequest};
use crate::url_key::bare_host;

/// Hosts of research papers.
const RESEARCH: &[&str] = &[
    "arxiv.org", "scholar.google.com", "semanticscholar.org", "pubmed.ncbi.nlm.nih.gov", "ncbi.nlm.nih.gov",
    "nature.com", "science.org", "sciencedirect.com", "springer.com", "link.springer.com", "ieee.org",
    "acm.org", "researchgate.net", "biorxiv.org", "medrxiv.org", "plos.org", "jstor.org", "openreview.net",
];
const GITHUB: &[&str] = &["github.com"];

/// Restricts which hosts and categories results may come from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    include: Vec<String>,
    exclude: Vec<String>,
    categories: Vec<Category>,
}

impl Filter {
    /// Builds the filter of a request.
    pub fn of(request: &SearchRequest) -> Self {
        Self {
            include: request.include_domains.clone(),
            exclude: request.exclude_domains.clone(),
            categories: request.categories.clone(),
        }
    }

    /// Returns the allowed hosts, one of which each result must be on; empty if every host is allowed.
    pub fn hosts(&self) -> Vec<&str> {
        let of_categories = || {
            let hosts = self.categories.iter().map(|category| hosts_of(*category));
            hosts.collect::<Option<Vec<_>>>().unwrap_or_default().concat()
        };
        match self.include.is_empty() {
            true => of_categories(),
            false => self.include.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the hosts that results must not be on.
    pub fn excluded(&self) -> &[String] {
        &self.exclude
    }

    /// Adds this filter to a query in search-engine syntax.
    pub fn add_to_query(&self, query: &str) -> String {
        let site = |host: &str| format!("site:{host}");
        let mut parts = vec![query.to_owned()];
        let included: Vec<String> = self.include.iter().map(|host| site(host)).collect();
        let of_categories: Vec<String> = self
            .categories
            .iter()
            .flat_map(|category| match hosts_of(*category) {
                Some(hosts) => hosts.iter().map(|host| site(host)).collect(),
                None => vec!["filetype:pdf".to_owned()],
            })
            .collect();
        for any in [included, of_categories] {
            match any.as_slice() {
                [] => {}
                [one] => parts.push(one.clone()),
                several => parts.push(format!("({})", several.join(" OR "))),
            }
        }
        parts.extend(self.exclude.iter().map(|host| format!("-{}", site(host))));
        parts.join(" ")
    }

    /// Returns whether a result passes the filter.
    pub fn allows(&self, url: &Url, content_type: Option<&str>) -> bool {
        let host = bare_host(url);
        let is_in = |hosts: &[String]| hosts.iter().any(|known| is_below(host, known));
        (self.include.is_empty() || is_in(&self.include))
            && !is_in(&self.exclude)
            && (self.categories.is_empty() || self.category(url, content_type).is_some())
    }

    /// Returns the first category of the request that a result belongs to.
    pub fn category(&self, url: &Url, content_type: Option<&str>) -> Option<Category> {
        let host = bare_host(url);
        let belongs = |category: &&Category| match hosts_of(**category) {
            Some(hosts) => hosts.iter().any(|known| is_below(host, known)),
            None => {
                url.path().to_ascii_lowercase().ends_with(".pdf")
                    || content_type.is_some_and(|kind| kind.starts_with("application/pdf"))
            }
        };
        self.categories.iter().find(belongs).copied()
    }
}

/// Returns the hosts of a category, or `None` for one defined by file type.
fn hosts_of(category: Category) -> Option<&'static [&'static str]> {
    match category {
        Category::Github => Some(GITHUB),
        Category::Research => Some(RESEARCH),
        Category::Pdf => None,
        // Rejected during validation.
        Category::Developer | Category::Gov => Some(&[]),
    }
}

/// Returns whether `host` equals `known` or is a subdomain of it. `*.a.test` and `www.a.test` mean `a.test`.
pub(super) fn is_below(host: &str, known: &str) -> bool {
    let known = known.strip_prefix("*.").unwrap_or(known);
    let known = known.strip_prefix("www.").unwrap_or(known);
    host.strip_suffix(known)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::fields::Wire;

    fn filter(fields: serde_json::Value) -> Filter {
        let mut body = json!({ "query": "x" });
        body.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        Filter::of(&SearchRequest::from_value(body).unwrap())
    }

    #[test]
    fn results_are_filtered_by_host_and_file_type() {
        let check = |fields, url: &str, expected: bool| {
            let url = Url::parse(url).unwrap();
            assert_eq!(filter(fields).allows(&url, None), expected, "{url}");
        };
        check(json!({}), "https://a.test/", true);
        check(
            json!({"includeDomains": ["a.test"]}),
            "https://www.a.test/x",
            true,
        );
        check(json!({"includeDomains": ["a.test"]}), "https://b.a.test/x", true);
        check(
            json!({"includeDomains": ["*.a.test"]}),
            "https://b.a.test/x",
            true,
        );
        check(json!({"includeDomains": ["a.test"]}), "https://ba.test/x", false);
        check(json!({"excludeDomains": ["a.test"]}), "https://b.a.test/x", false);
        check(
            json!({"categories": ["github"]}),
            "https://gist.github.com/x",
            true,
        );
        check(json!({"categories": ["github"]}), "https://a.test/", false);
        check(
            json!({"categories": ["github", "pdf"]}),
            "https://a.test/B.PDF",
            true,
        );
    }

    #[test]
    fn filters_are_added_in_search_engine_syntax() {
        let filter = filter(json!({"categories": ["github", "pdf"], "excludeDomains": ["a.test"]}));
        assert_eq!(
            filter.add_to_query("rust"),
            "rust (site:github.com OR filetype:pdf) -site:a.test"
        );
        assert_eq!(filter.hosts(), [""; 0]);
        let pdf = filter.category(&Url::parse("https://b.test/").unwrap(), Some("application/pdf"));
        assert_eq!(pdf, Some(Category::Pdf));
    }
}
