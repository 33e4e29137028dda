"""Batch scrapes, webhooks and idempotency keys with the Python client, sync and async.

Usage: python_batches.py API_URL API_KEY RECEIVER_URL NEVER_URL PAGE_URLS LARGE_PAGE_URLS: a webhook receiver, a page
that never responds, lists of URLs separated by spaces.
"""

import asyncio
import sys
import time

from firecrawl import AsyncFirecrawl, AsyncWatcher, Firecrawl
from firecrawl.v2.types import PaginationConfig, WebhookConfig
from firecrawl.v2.utils.error_handler import BadRequestError, FirecrawlError

api_url, api_key, receiver, never, pages, large_pages = sys.argv[1:]
pages, large_pages = pages.split(), large_pages.split()
client = Firecrawl(api_key=api_key, api_url=api_url)
first_answer = PaginationConfig(auto_paginate=False)
closed = "http://127.0.0.1:1/"


def addresses(documents):
    found = [document.metadata.source_url for document in documents]
    assert len(found) == len(set(found)), "a page was returned twice"
    return found


def ended(job_id):
    while (job := client.get_batch_scrape_status(job_id)).status == "scraping":
        time.sleep(0.2)
    return job


def refused(call, error, status, words):
    try:
        call()
    except error as refusal:
        assert refusal.status_code == status and words in str(refusal), refusal
    else:
        raise SystemExit(f"accepted: {words}")


# Start and wait.
job = client.batch_scrape(pages, formats=["markdown", "links"], max_concurrency=3, poll_interval=1, wait_timeout=60)
assert (job.status, job.completed, job.total, job.credits_used) == ("completed", len(pages), len(pages), len(pages)), job
assert sorted(addresses(job.data)) == sorted(pages) and job.next is None and job.expires_at is not None
assert all(document.markdown and document.links is not None for document in job.data)

# Invalid URLs.
started = client.start_batch_scrape([pages[0], "http://", pages[0]], ignore_invalid_urls=True)
assert started.invalid_urls == ["http://"] and started.url.endswith(f"/v2/batch/scrape/{started.id}"), started
refused(lambda: client.start_batch_scrape([pages[0], "http://"], ignore_invalid_urls=False), BadRequestError, 400, "urls[1]")
refused(lambda: client.start_batch_scrape(["http://"]), BadRequestError, 400, "urls")

# Added pages; a page that cannot be fetched.
started = client.start_batch_scrape(pages[:2], formats=["html"], max_age=0)
more = client.start_batch_scrape([*pages[1:4], closed], formats=["html"], append_to_id=started.id)
assert more.id == started.id and more.url == started.url
job = ended(started.id)
assert (job.status, job.completed, job.total) == ("completed", 4, 5), job
assert sorted(addresses(job.data)) == sorted(pages[:4]) and job.data[0].html
errors = client.get_batch_scrape_errors(started.id)
assert [(error.url, error.code) for error in errors.errors] == [(closed, "SCRAPE_SITE_ERROR")], errors
assert errors.errors[0].id and errors.errors[0].error and errors.robots_blocked == []
refused(lambda: client.cancel_batch_scrape(started.id), FirecrawlError, 409, "completed")

# Cancel; a batch is not listed as a crawl.
running = client.start_batch_scrape([*pages[:2], never])
while client.get_batch_scrape_status(running.id).completed < 2:
    time.sleep(0.2)
assert running.id not in [crawl.id for crawl in client.get_active_crawls().crawls]
assert client.cancel_batch_scrape(running.id) is True and client.cancel_batch_scrape(running.id) is True
job = client.get_batch_scrape_status(running.id)
assert job.status == "cancelled" and sorted(addresses(job.data)) == sorted(pages[:2]), job

# Responses of at most 10 MiB.
large = client.start_batch_scrape(large_pages, formats=["rawHtml"])
everything = addresses(ended(large.id).data)
assert sorted(everything) == sorted(large_pages)
part = client.get_batch_scrape_status(large.id, pagination_config=first_answer)
paged = addresses(part.data)
assert 1 < len(paged) < len(large_pages) and part.next.startswith(f"{api_url}/v2/batch/scrape/"), part.next
while part.next:
    part = client.get_batch_scrape_status_page(part.next)
    paged += addresses(part.data)
assert paged == everything, "each page is returned once, in the same order"

# Idempotency keys: the same request returns the same job.
once = client.start_batch_scrape(pages[:2], idempotency_key="once")
assert client.start_batch_scrape(pages[:2], idempotency_key="once").id == once.id
refused(lambda: client.start_batch_scrape(pages[:3], idempotency_key="once"), FirecrawlError, 409, "idempotency")

# A watcher.
watched = client.start_batch_scrape(pages[:5], max_concurrency=1)
seen, ends = [], []
watcher = client.watcher(watched.id, kind="batch", poll_interval=30, timeout=60)
watcher.add_event_listener("document", lambda event: seen.append(event["data"]["metadata"]["sourceURL"]))
watcher.add_event_listener("done", ends.append)
watcher.start()
watcher._thread.join(timeout=60)
assert [end["status"] for end in ends] == ["completed"], ends
assert seen == addresses(client.get_batch_scrape_status(watched.id).data)

# Crawl options from a prompt.
proposed = client.crawl_params_preview(pages[0], "only the blog, at most 20 pages, 2 levels deep, wait 1 second between pages")
assert (proposed.limit, proposed.max_discovery_depth, proposed.delay, len(proposed.include_paths)) == (20, 2, 1, 2), proposed
assert client.crawl_params_preview(pages[0], "surprise me").warning

# Webhook events.
hook = WebhookConfig(url=receiver, headers={"X-From": "client"}, metadata={"from": "client"}, events=["started", "page", "completed"])
client.batch_scrape(pages[:3], webhook=hook, poll_interval=1, wait_timeout=60)
client.crawl(pages[0], limit=2, webhook=hook.model_copy(update={"events": None}), poll_interval=1, timeout=60)


async def main():
    """The same with the async client."""
    client = AsyncFirecrawl(api_key=api_key, api_url=api_url)
    job = await client.batch_scrape(pages[:4], poll_interval=1, timeout=60)
    assert job.status == "completed" and sorted(addresses(job.data)) == sorted(pages[:4])
    started = await client.start_batch_scrape([pages[0], "http://"], ignore_invalid_urls=True)
    assert started.invalid_urls == ["http://"]
    await client.start_batch_scrape([closed], append_to_id=started.id)
    while (job := await client.get_batch_scrape_status(started.id)).status == "scraping":
        await asyncio.sleep(0.2)
    assert (job.completed, job.total) == (1, 2)
    errors = await client.get_batch_scrape_errors(started.id)
    assert [error["url"] for error in errors["errors"]] == [closed], errors
    part = await client.get_batch_scrape_status(large.id, pagination_config=first_answer)
    rest = await client.get_batch_scrape_status_page(part.next)
    assert addresses(part.data + rest.data) == everything[: len(part.data) + len(rest.data)]
    assert addresses((await client.get_batch_scrape_status(large.id)).data) == everything
    running = await client.start_batch_scrape([pages[0], never])
    assert await client.cancel_batch_scrape(running.id) is True
    watched = await client.start_batch_scrape(pages[:3], max_concurrency=1)
    async for last in AsyncWatcher(client, watched.id, kind="batch", poll_interval=30, timeout=60):
        pass
    assert last.status == "completed" and last.completed == last.total == 3, last
    assert sorted(addresses(last.data)) == sorted(pages[:3])
    assert (await client.crawl_params_preview(pages[0], "sitemap only")).sitemap == "only"


asyncio.run(main())
print("python batches: ok")
