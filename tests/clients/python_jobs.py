"""Jobs with the Python client, sync and async: waiting, pagination, watching, cancelling.

Usage: python_jobs.py API_URL API_KEY SITE_URL PAGES LARGE_SITE_URL LARGE_PAGES, where the site has PAGES pages
below SITE_URL, and the large site does not fit into one status response.
"""

import asyncio
import sys

from firecrawl import AsyncFirecrawl, AsyncWatcher, CrawlJobTimeoutError, Firecrawl
from firecrawl.v2.types import PaginationConfig

api_url, api_key, site, pages, large_site, large_pages = sys.argv[1:]
pages, large_pages = int(pages), int(large_pages)
client = Firecrawl(api_key=api_key, api_url=api_url)
RAW = {"formats": ["rawHtml"]}


def addresses(documents):
    found = [document.metadata.url for document in documents]
    assert len(found) == len(set(found)), "a page was returned twice"
    return found


def event_addresses(documents):
    return [document["metadata"]["url"] for document in documents]


def no_pages(**limits):
    return PaginationConfig(auto_paginate=False, **limits)


# Waiting for a started job; a wait that times out; cancelling twice.
started = client.start_crawl(site, limit=5, sitemap="skip")
job = client.wait_crawl(started.id, poll_interval=1, timeout=60)
assert (job.status, job.completed, job.total, len(job.data)) == ("completed", 5, 5, 5), job
assert job.id == started.id and job.expires_at is not None and job.next is None
assert client.cancel_crawl(started.id) is False, "a completed crawl cannot be cancelled"
# The delay is longer than the time for which a status request at the end of a running job waits.
slow = client.start_crawl(site, limit=pages, delay=3, sitemap="skip")
try:
    client.wait_crawl(slow.id, poll_interval=1, timeout=1)
    raise SystemExit("a wait of one second did not time out")
except CrawlJobTimeoutError as error:
    assert error.job_id == slow.id
assert slow.id in [crawl.id for crawl in client.active_crawls().crawls]
assert client.cancel_crawl(slow.id) is True
assert client.wait_crawl(slow.id, timeout=60).status == "cancelled"
assert client.cancel_crawl(slow.id) is True, "a cancel may be repeated"

# Method names of earlier versions.
old = client.crawl_url(site, params={"limit": 2, "sitemap": "skip"})
assert old.status == "completed" and len(old.data) == 2
assert client.check_crawl_status(started.id).completed == 5
assert client.check_crawl_errors(started.id).errors == []
assert client.async_crawl_url(site, params={"limit": 1}).id

# Responses of at most 10 MiB, joined or page by page.
large = client.crawl(large_site, limit=large_pages, sitemap="skip", scrape_options=RAW, poll_interval=1, timeout=120)
everything = addresses(large.data)
assert len(everything) == large_pages and large.next is None
assert all(len(document.raw_html) > 1_000_000 for document in large.data)
first = client.get_crawl_status(large.id, pagination_config=no_pages())
assert 1 < len(first.data) < large_pages and first.next.startswith(api_url), first.next
paged, next_url = addresses(first.data), first.next
while next_url:
    part = client.get_crawl_status_page(next_url)
    assert part.id == large.id and part.status == "completed" and part.data
    paged += addresses(part.data)
    next_url = part.next
assert paged == everything, "each page is returned once, in the same order"
for limits, expected in [
    ({"max_pages": 0}, len(first.data)),
    ({"max_results": len(first.data) + 1}, len(first.data) + 1),
    ({"max_wait_time": 60}, large_pages),
]:
    some = client.get_crawl_status(large.id, pagination_config=PaginationConfig(**limits))
    assert addresses(some.data) == everything[:expected], limits

# A watcher gets each page once and the end; for a cancelled job it gets an error.
started = client.start_crawl(site, limit=4, delay=1, sitemap="skip")
seen, ends, snapshots = [], [], []
watcher = client.watcher(started.id, kind="crawl", poll_interval=30, timeout=60)
watcher.add_event_listener("document", lambda event: seen.append(event["data"]))
watcher.add_event_listener("done", ends.append)
watcher.add_event_listener("error", ends.append)
watcher.add_listener(snapshots.append)
watcher.start()
watcher._thread.join(timeout=60)
assert [end["status"] for end in ends] == ["completed"], ends
final_status = client.get_crawl_status(started.id)
assert event_addresses(seen) == addresses(final_status.data), "each page once, in the order of the status"
assert event_addresses(ends[0]["data"]) == event_addresses(seen)
assert snapshots[-1].status == "completed" and snapshots[-1].completed == snapshots[-1].total == 4
assert snapshots[-1].credits_used == 4

cancelled = client.start_crawl(site, limit=pages, delay=1, sitemap="skip")
ends.clear()
watcher = client.watcher(cancelled.id, poll_interval=30, timeout=60)
watcher.add_event_listener("document", lambda event: client.cancel_crawl(cancelled.id))
watcher.add_event_listener("error", ends.append)
watcher.start()
watcher._thread.join(timeout=60)
assert len(ends) == 1 and "cancelled" in ends[0]["error"], ends


async def main():
    """The same with the async client."""
    client = AsyncFirecrawl(api_key=api_key, api_url=api_url)
    page = await client.scrape(site, formats=["markdown", "links"])
    assert page.markdown and page.links and page.metadata.status_code == 200

    assert site in [link.url for link in (await client.map(site, limit=50)).links]

    job = await client.crawl(url=site, limit=4, sitemap="skip", poll_interval=1, timeout=60)
    assert (job.status, job.completed, len(addresses(job.data))) == ("completed", 4, 4)
    started = await client.start_crawl(site, limit=3, sitemap="skip")
    job = await client.wait_crawl(started.id, poll_interval=1, timeout=60)
    assert job.status == "completed" and len(job.data) == 3
    errors = await client.get_crawl_errors(started.id)
    assert errors.errors == [] and errors.robots_blocked == []

    first = await client.get_crawl_status(large.id, pagination_config=no_pages())
    rest = await client.get_crawl_status_page(first.next)
    assert addresses(first.data + rest.data) == everything[: len(first.data) + len(rest.data)]
    assert addresses((await client.get_crawl_status(large.id)).data) == everything

    running = await client.start_crawl(site, limit=pages, delay=1, sitemap="skip")
    assert running.id in [crawl.id for crawl in (await client.active_crawls()).crawls]
    assert await client.cancel_crawl(running.id) is True
    assert (await client.get_crawl_status(running.id)).status == "cancelled"
    assert await client.cancel_crawl(started.id) is False

    # The async watcher: snapshots until the end, also through a sync client.
    for watching in (client, Firecrawl(api_key=api_key, api_url=api_url)):
        started = await client.start_crawl(site, limit=3, delay=1, sitemap="skip")
        last = None
        async for snapshot in AsyncWatcher(watching, started.id, kind="crawl", poll_interval=30, timeout=60):
            last = snapshot
        assert last.status == "completed" and last.completed == last.total == 3, last
        assert addresses(last.data) == addresses((await client.get_crawl_status(started.id)).data)


asyncio.run(main())
print("python jobs: ok")
