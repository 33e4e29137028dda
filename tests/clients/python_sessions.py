"""The Python client with a running server: browser sessions with and without a scrape.

Usage: python_sessions.py API_URL API_KEY PAGE, a page with an input, a button and an output that greets.
"""

import sys

from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import FirecrawlError

api_url, api_key, page = sys.argv[1:4]
client = Firecrawl(api_key=api_key, api_url=api_url)


def refused(status, call):
    try:
        call()
    except FirecrawlError as error:
        assert error.status_code == status, error
    else:
        raise SystemExit(f"not refused with {status}")


# A scrape that is continued in several languages with the same browser.
scrape = client.scrape(page).metadata.scrape_id
answer = client.interact(scrape, "await page.fill('input', 'Ada')\nawait page.click('button')\nawait page.title()")
assert answer.success and answer.exit_code == 0 and answer.result == "Form", answer
assert "/live/" in answer.live_view_url and "/live/" in answer.interactive_live_view_url, answer
assert answer.cdp_url.startswith("ws://"), answer
answer = client.interact(scrape, "get text output", language="bash", timeout=10)
assert answer.stdout.strip() == "Hello Ada" and answer.killed is False, answer
answer = client.interact(scrape, "print(await page.title())\nawait page.input_value('input')", language="python")
assert (answer.stdout.strip(), answer.result) == ("Form", "Ada"), answer
answer = client.interact(scrape, prompt="click Send")
assert answer.success and "Send" in answer.result, answer
ended = client.stop_interaction(scrape)
assert ended.success and ended.session_duration_ms > 0 and ended.credits_billed >= 1, ended
refused(410, lambda: client.interact(scrape, "get url", language="bash"))
refused(404, lambda: client.stop_interaction(scrape))

# A browser without a scrape: code is browser commands by default.
browser = client.browser(ttl=120, activity_ttl=60, profile={"name": "python"}, location={"country": "DE"})
assert browser.success and browser.id and browser.cdp_url and browser.live_view_url and browser.expires_at, browser
answer = client.browser_execute(browser.id, f"open {page} && fill input Bob && click button && get text output")
assert answer.success and answer.stdout.strip().endswith("Hello Bob"), answer
answer = client.browser_execute(browser.id, "await page.evaluate('navigator.language')", language="node", timeout=30)
assert answer.success and answer.result == "de-DE", answer
answer = client.browser_execute(browser.id, "click '#nothing'", timeout=5)
assert not answer.success and answer.error, answer
assert [one.id for one in client.list_browsers(status="active").sessions] == [browser.id]
ended = client.delete_browser(browser.id)
assert ended.success and ended.credits_billed >= 1, ended
sessions = client.list_browsers().sessions
assert len(sessions) == 2 and {one.status for one in sessions} == {"destroyed"}, sessions
refused(410, lambda: client.browser_execute(browser.id, "get url"))

print("python sessions: ok")
