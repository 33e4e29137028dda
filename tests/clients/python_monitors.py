"""The Python client with a running server: monitors and their checks.

Usage: python_monitors.py API_URL API_KEY PAGE_URL
"""

import sys
import time
import warnings

from firecrawl import Firecrawl
from firecrawl.v2.types import MonitorSchedule, MonitorWebhookConfig, PaginationConfig

warnings.simplefilter("ignore")
api_url, api_key, page = sys.argv[1:4]
client = Firecrawl(api_key=api_key, api_url=api_url)


def finished(monitor_id, check_id):
    while True:
        check = client.get_monitor_check(monitor_id, check_id)
        if check.finished_at:
            return check
        time.sleep(0.1)


monitor = client.create_monitor(
    "Prices",
    {"text": "weekdays at 9:00", "timezone": "Europe/Berlin"},
    [{"type": "scrape", "urls": [page], "scrapeOptions": {"onlyMainContent": True}}],
    webhook=MonitorWebhookConfig(url="https://example.com/hook", events=["monitor.page"]),
    retention_days=7,
    goal="The price falls",
)
assert (monitor.name, monitor.status, monitor.retention_days) == ("Prices", "active", 7), monitor
assert (monitor.schedule.cron, monitor.schedule.timezone) == ("0 9 * * 1-5", "Europe/Berlin"), monitor
assert monitor.next_run_at and monitor.judge_enabled and monitor.estimated_credits_per_month > 0, monitor
assert monitor.targets[0]["id"] == "target-1" and monitor.targets[0]["urls"] == [page], monitor
assert MonitorWebhookConfig(**monitor.webhook).events == ["monitor.page"], monitor
assert monitor.webhook["url"] == "https://example.com/hook", monitor

assert [one.id for one in client.list_monitors(limit=10, offset=0)] == [monitor.id]
assert client.get_monitor(monitor.id).id == monitor.id

# What the client read can be sent back.
changed = client.update_monitor(
    monitor.id, name="Cups", status="paused", schedule=MonitorSchedule(cron="*/30 * * * *"), targets=monitor.targets
)
assert (changed.name, changed.status, changed.next_run_at) == ("Cups", "paused", None), changed
assert (changed.schedule.cron, changed.schedule.timezone) == ("*/30 * * * *", "UTC"), changed

check = client.run_monitor(monitor.id)
assert (check.monitor_id, check.trigger) == (monitor.id, "manual") and check.status in ("queued", "running"), check
done = finished(monitor.id, check.id)
assert (done.status, done.billing_status, done.actual_credits) == ("completed", "confirmed", 1), done
assert (done.summary.total_pages, done.summary.new) == (1, 1), done
assert done.target_results[0].target_id == "target-1" and done.target_results[0].expected_jobs, done
[found] = done.pages
assert (found.url, found.status, found.target_id, found.status_code) == (page, "new", "target-1", 200), found
assert client.get_monitor_check(monitor.id, check.id, status="changed").pages == []
assert client.get_monitor_check(
    monitor.id, check.id, limit=1, pagination_config=PaginationConfig(auto_paginate=False)
).next is None
assert [one.id for one in client.list_monitor_checks(monitor.id, limit=5)] == [check.id]
assert client.get_monitor(monitor.id).last_check_summary.new == 1

assert client.delete_monitor(monitor.id) is True
assert client.list_monitors() == []

print("python monitors: ok")
