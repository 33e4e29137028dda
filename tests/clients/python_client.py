"""The Python client with a running server: scrape, crawl and map.

Usage: python_client.py API_URL API_KEY SITE_URL PAGES, where the site has PAGES pages below SITE_URL.
"""

import sys
import time

from firecrawl import Firecrawl
from firecrawl.v2.types import PaginationConfig
from firecrawl.v2.utils.error_handler import BadRequestError, UnauthorizedError

api_url, api_key, site, pages = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
client = Firecrawl(api_key=api_key, api_url=api_url)

# One page in several formats.
page = client.scrape(site, formats=["markdown", "links", "html", "rawHtml"], only_main_content=True)
assert page.markdown.strip(), "no markdown"
assert page.links and all(link.startswith("http") for link in page.links), page.links
assert "<" in page.html and "<html" in page.raw_html.lower()
assert page.metadata.status_code == 200 and page.metadata.title, page.metadata
assert page.metadata.scrape_id and page.metadata.source_url == site, page.metadata

# A comparison sees the present page, although the client accepts copies up to 4 hours old.
tracked = [client.scrape(site + "tracked", formats=["markdown", "changeTracking"]) for _ in range(2)]
assert [page.change_tracking["changeStatus"] for page in tracked] == ["new", "same"], tracked

# Options for what is fetched and what is removed.
for block_ads in [True, False]:
    shown = client.scrape(site + "banner", block_ads=block_ads, proxy="auto", only_main_content=False, max_age=0)
    assert ("We use cookies" in shown.markdown) != block_ads, shown.markdown
    assert shown.metadata.proxy_used == "basic", shown.metadata

# A crawl that the client waits for.
job = client.crawl(site, limit=pages, poll_interval=1, timeout=120)
assert job.status == "completed" and job.completed == job.total == pages, (job.status, job.completed, job.total)
urls = [document.metadata.url for document in job.data]
assert len(urls) == len(set(urls)) == pages, f"{len(urls)} documents, {len(set(urls))} pages"
assert all(document.markdown is not None for document in job.data)
assert job.credits_used == pages, job.credits_used
assert job.next is None

# A crawl that is started and polled by hand.
started = client.start_crawl(site, limit=7, scrape_options={"formats": ["markdown", "links"]})
assert started.url.endswith(f"/v2/crawl/{started.id}"), started
while (status := client.get_crawl_status(started.id)).status == "scraping":
    time.sleep(0.2)
assert status.status == "completed" and len(status.data) == 7 and status.data[0].links, status
first = client.get_crawl_status(started.id, pagination_config=PaginationConfig(auto_paginate=False))
assert len(first.data) == 7 and first.next is None
errors = client.get_crawl_errors(started.id)
assert errors.errors == [] and errors.robots_blocked == [], errors

# Active crawls and cancel.
running = client.start_crawl(site, limit=pages, delay=1)
assert running.id in [crawl.id for crawl in client.get_active_crawls().crawls]
assert client.cancel_crawl(running.id) is True
assert client.get_crawl_status(running.id).status == "cancelled"
assert running.id not in [crawl.id for crawl in client.get_active_crawls().crawls]

# A map.
links = client.map(site).links
assert site in [link.url for link in links] and len(links) > 2 and all(link.url.startswith(site) for link in links), links
assert [link.title for link in links if link.url == site] == [page.metadata.title], links
assert client.map(site, search=links[-1].url).links[0].url == links[-1].url
assert len(client.map(site, limit=2, sitemap="skip", include_subdomains=False, timeout=30000).links) == 2
assert client.map_url(site, params={"limit": 1}).links

# Errors are exceptions of the client.
try:
    client.start_crawl(site, limit=pages, include_paths=["("])
    raise SystemExit("an invalid pattern was accepted")
except BadRequestError as error:
    assert "includePaths" in str(error), error
try:
    Firecrawl(api_key="fc-wrong", api_url=api_url).scrape(site)
    raise SystemExit("a wrong key was accepted")
except UnauthorizedError:
    pass

print("python client: ok")
