"""Usage, remaining credits and queue of a team with the Python client, sync and async.

Usage: python_usage.py API_URL API_KEY KEY_NAME BUDGET SITE_URL SLOW_URL, where the key has not been used before, and
SLOW_URL never responds.
"""

import asyncio
import sys
from datetime import datetime, timezone

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.client import FirecrawlClient
from firecrawl.v2.client_async import AsyncFirecrawlClient

api_url, api_key, key_name, budget, site, slow = sys.argv[1:]
budget = int(budget)
client = Firecrawl(api_key=api_key, api_url=api_url)
# Only the inner client has methods for reports of past months.
reports = FirecrawlClient(api_key=api_key, api_url=api_url)


def check(used, credits, tokens, credit_history, token_history, credit_keys, token_keys):
    assert (credits.remaining_credits, credits.plan_credits) == (budget - used, budget), credits
    assert (tokens.remaining_tokens, tokens.plan_tokens) == (15 * (budget - used), 15 * budget), tokens
    start = datetime.fromisoformat(credits.billing_period_start.replace("Z", "+00:00"))
    end = datetime.fromisoformat(credits.billing_period_end.replace("Z", "+00:00"))
    assert (start.day, start.hour, start.tzinfo) == (1, 0, timezone.utc) and start.month == end.month, credits
    assert start < datetime.now(timezone.utc) < end
    for history in (credit_history, token_history, credit_keys, token_keys):
        assert history.success is True
        [period] = history.periods
        assert (period.startDate, period.endDate) == (credits.billing_period_start, credits.billing_period_end)
    assert credit_history.periods[0].creditsUsed == used and credit_history.periods[0].apiKey is None
    assert token_history.periods[0].tokensUsed == 15 * used and token_history.periods[0].apiKey is None
    assert (credit_keys.periods[0].creditsUsed, credit_keys.periods[0].apiKey) == (used, key_name)
    assert (token_keys.periods[0].tokensUsed, token_keys.periods[0].apiKey) == (15 * used, key_name)


def check_now(used):
    check(
        used,
        client.get_credit_usage(),
        client.get_token_usage(),
        reports.get_credit_usage_historical(),
        reports.get_token_usage_historical(),
        reports.get_credit_usage_historical(by_api_key=True),
        reports.get_token_usage_historical(by_api_key=True),
    )


check_now(0)
queue = client.get_queue_status()
assert (queue.jobs_in_queue, queue.active_jobs_in_queue, queue.waiting_jobs_in_queue) == (0, 0, 0), queue
assert queue.max_concurrency > 0 and queue.most_recent_success is None, queue
idle = client.get_concurrency()
assert (idle.concurrency, idle.max_concurrency) == (0, queue.max_concurrency), idle

document = client.scrape(site, formats=["markdown", "summary"])
assert document.metadata.credits_used == 5
client.map(site, limit=5)
job = client.crawl(site, limit=3, sitemap="skip", poll_interval=1, timeout=60)
used = 5 + 1 + job.credits_used
check_now(used)
queue = client.get_queue_status()
assert queue.jobs_in_queue == 0 and queue.most_recent_success <= datetime.now(timezone.utc), queue

# Pages in progress and waiting pages.
batch = client.start_batch_scrape([f"{slow}?{number}" for number in range(queue.max_concurrency + 3)])
while client.get_concurrency().concurrency < queue.max_concurrency:
    pass
busy = client.get_queue_status()
assert (busy.active_jobs_in_queue, busy.waiting_jobs_in_queue) == (queue.max_concurrency, 3), busy
assert busy.jobs_in_queue == queue.max_concurrency + 3
assert client.cancel_batch_scrape(batch.id) is True


async def main():
    """The same with the async client."""
    client = AsyncFirecrawl(api_key=api_key, api_url=api_url)
    reports = AsyncFirecrawlClient(api_key=api_key, api_url=api_url)
    check(
        used,
        await client.get_credit_usage(),
        await client.get_token_usage(),
        await reports.get_credit_usage_historical(),
        await reports.get_token_usage_historical(),
        await reports.get_credit_usage_historical(by_api_key=True),
        await reports.get_token_usage_historical(by_api_key=True),
    )
    assert (await client.get_queue_status()).max_concurrency == queue.max_concurrency
    assert (await client.get_concurrency()).max_concurrency == queue.max_concurrency


asyncio.run(main())
print("python usage: ok")
