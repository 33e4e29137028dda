"""The Python MCP client over standard input and output and over HTTP: every tool.

Usage: python_mcp.py API_URL API_KEY HARVESTMAN SITE, a site with /a, /large (2 MB of text), /form and /gone.
"""

import asyncio
import base64
import json
import re
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

api_url, api_key, program, site = sys.argv[1:5]
MOST_CHARS = 40_000


def texts(result):
    return [block.text for block in result.content if block.type == "text"]


class Tools:
    """Calls tools and checks the size of every answer."""

    def __init__(self, client):
        self.client = client
        self.called = set()

    async def call(self, name, arguments=None, fails=False, **options):
        self.called.add(f"harvestman_{name}")
        result = await self.client.call_tool(f"harvestman_{name}", arguments or {}, **options)
        assert sum(map(len, texts(result))) <= MOST_CHARS, (name, arguments)
        assert result.is_error is fails or (not fails and not result.is_error), (name, arguments, texts(result))
        return result

    async def text(self, name, arguments=None, **options):
        return "\n".join(texts(await self.call(name, arguments, **options)))


def found(pattern, text):
    match = re.search(pattern, text)
    assert match, f"no {pattern} in {text[:2000]}"
    return match.group(1)


async def check_listing(client):
    assert "instruction" in client.instructions
    tools = (await client.list_tools()).tools
    for tool in tools:
        assert tool.title and len(tool.description) > 50, tool.name
        assert tool.annotations.read_only_hint is not None, tool.name
        assert tool.input_schema["type"] == "object", tool.name
    return {tool.name for tool in tools}


async def check_pages(tools):
    page = await tools.call("scrape", {"url": f"{site}/a"})
    head, content = texts(page)
    assert "Status: 200" in head and f"URL: {site}/a" in head and content.startswith("# A"), texts(page)
    assert "Status: 404" in await tools.text("scrape", {"url": f"{site}/gone"})
    assert "`wait` is not a known field" in await tools.text("scrape", {"url": f"{site}/a", "wait": 1}, fails=True)
    assert "`offset` must be" in await tools.text("scrape", {"url": f"{site}/a", "offset": -1}, fails=True)
    await tools.text("scrape", {"url": "http://127.0.0.1:1/"}, fails=True)

    # A page of 2 MB is read part by part.
    head, content = texts(await tools.call("scrape", {"url": f"{site}/large"}))
    total, scrape = int(found(r"of (\d+)\.", head)), found(r"Scrape id: (\S+)", head)
    assert total > 1_900_000, head
    second = int(found(r"`offset`: (\d+)", head))
    assert second == len(content), (second, len(content))
    head, more = texts(await tools.call("status", {"kind": "scrape", "id": scrape, "offset": second}))
    assert f"Characters {second} to" in head and more != content, head
    last = {"kind": "scrape", "id": scrape, "offset": total - 10}
    assert "This is the end." in await tools.text("status", last)

    links = await tools.text("map", {"url": site})
    assert f"{site}/a" in links, links
    assert "[web 1]" in await tools.text("search", {"query": "paragraph"})
    shot = await tools.call("scrape", {"url": f"{site}/form", "formats": ["screenshot"]})
    pictures = [block for block in shot.content if block.type == "image"]
    assert pictures and base64.b64decode(pictures[0].data).startswith(b"\x89PNG"), shot.content
    assert "limit" in await tools.text("docs_search", {"question": "How do I limit a crawl?"})
    csv = {"name": "table.csv", "text": "name,legs\nspider,8\n"}
    assert "spider" in await tools.text("parse", csv)
    await tools.text("parse", {"name": "a.csv"}, fails=True)


async def check_jobs(tools):
    progress = []

    async def report(done, total, message):
        progress.append((done, total, message))

    crawl = await tools.text("crawl", {"url": site, "limit": 20}, progress_callback=report)
    assert "Status: completed" in crawl and f"{site}/a" in crawl, crawl[:2000]
    assert progress and progress == sorted(progress), progress
    job = found(r"Job: crawl (\S+)", crawl)
    one = await tools.text("status", {"kind": "crawl", "id": job, "skip": 1, "limit": 1})
    assert "pages 1 to 1" in one and one.count("--- Page") == 1, one[:2000]
    started = await tools.text("batch", {"urls": [f"{site}/never"], "waitSeconds": 0})
    assert "Still running" in started, started
    job = found(r"Job: batch (\S+)", started)
    assert "is cancelled" in await tools.text("cancel", {"kind": "batch", "id": job})
    assert "Status: cancelled" in await tools.text("status", {"kind": "batch", "id": job})
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    data = texts(await tools.call("extract", {"urls": [f"{site}/a"], "schema": schema}))[1]
    assert json.loads(data) == {"title": "A"}, data
    agent = {"prompt": "the title", "urls": [f"{site}/a"], "schema": schema}
    assert json.loads(texts(await tools.call("agent", agent))[1]) == {"title": "A"}
    answer = await tools.text("agent", agent)
    thread = found(r"Thread: (\S+)", answer)
    again = await tools.text("agent", {**agent, "threadId": thread})
    assert f"Thread: {thread}" in again, again
    runs = json.loads(await tools.text("agent_thread", {"id": thread}))["runs"]
    assert [run["turn"] for run in runs] == [1, 2] and runs[0]["data"] == {"title": "A"}, runs
    await tools.text("agent_thread", {"id": job}, fails=True)
    assert "`kind` must be one of" in await tools.text("cancel", {"kind": "scrape", "id": job}, fails=True)


async def check_monitors(tools):
    monitor = {"name": "A", "schedule": {"text": "hourly"}, "targets": [{"type": "scrape", "urls": [f"{site}/a"]}]}
    created = await tools.text("monitor", monitor)
    id = found(r"Monitor: (\S+)", created)
    assert "Next check: " in created, created
    assert id in await tools.text("monitor_list", {"limit": 5})
    run = await tools.text("monitor_run", {"id": id})
    assert "Status: completed" in run and f"{site}/a" in run, run
    check = found(r"Check: (\S+)", run)
    assert check in await tools.text("monitor_checks", {"id": id})
    assert f"{site}/a" in await tools.text("monitor_checks", {"id": id, "check": check})
    again = await tools.text("monitor_run", {"id": id})
    assert "because they have not changed: 1" in again and f"{site}/a" not in again, again
    assert "Status: paused" in await tools.text("monitor_update", {"id": id, "status": "paused"})
    assert "is deleted" in await tools.text("monitor_delete", {"id": id})
    await tools.text("monitor_run", {"id": id}, fails=True)
    assert "`schedule` is required" in await tools.text("monitor", {"name": "A"}, fails=True)
    assert "`check` must be an id" in await tools.text("monitor_checks", {"id": id, "check": "x"}, fails=True)


async def check_sessions(tools):
    scrape = found(r"Scrape id: (\S+)", await tools.text("scrape", {"url": f"{site}/form"}))
    code = {"id": scrape, "language": "bash", "code": "fill input Ada && click button && get text output"}
    assert "Hello Ada" in await tools.text("interact", code)
    shot = await tools.call("interact", {"id": scrape, "language": "bash", "code": "screenshot"})
    assert any(block.type == "image" for block in shot.content), texts(shot)
    endless = {"id": scrape, "language": "node", "code": "'x'.repeat(500000)"}
    assert "The rest is omitted" in await tools.text("interact", endless)
    assert "has ended" in await tools.text("interact_stop", {"id": scrape})

    browser = found(r"Session id: (\S+)", await tools.text("browser", {"ttl": 120}))
    run = {"id": browser, "language": "bash", "code": f"open {site}/a && get title"}
    assert "A" in await tools.text("browser_execute", run)
    assert browser in await tools.text("browser_list", {"status": "active"})
    await check_files(tools, browser)
    assert "Credits billed" in await tools.text("browser_close", {"id": browser})
    await tools.text("browser_execute", run, fails=True)


async def check_files(tools, browser):
    table = {"id": browser, "name": "legs.csv", "text": "name,legs\nspider,8\n"}
    assert "Path for code: /" in await tools.text("browser_upload", table)
    run = {"id": browser, "language": "node"}
    save = "const [file] = await Promise.all([page.waitForEvent('download'), page.click('#save')]); await file.path()"
    await tools.text("browser_execute", {**run, "code": f"await page.goto('{site}/form'); {save}"})
    files = json.loads((await tools.call("browser_files", {"id": browser})).content[1].text)
    assert [file["name"] for file in files] == ["legs.csv", "large.html"], files
    assert "spider,8" in await tools.text("browser_download", {"id": browser, "name": "legs.csv"})
    large = {"id": browser, "name": "large.html"}
    head, content = texts(await tools.call("browser_download", large))
    second = int(found(r"`offset`: (\d+)", head))
    assert second == len(content), (second, len(content))
    assert f"Characters {second} to" in await tools.text("browser_download", {**large, "offset": second})
    missing = await tools.text("browser_download", {"id": browser, "name": "x"}, fails=True)
    assert "its files are: legs.csv, large.html" in missing, missing
    await tools.text("browser_upload", {"id": browser, "name": "a.csv"}, fails=True)


async def check_large(tools):
    """Every tool that returns what pages contain, on a page of 2 MB."""
    url = f"{site}/large"
    everything = ["markdown", "html", "rawHtml", "links", "images", "summary", "rawBase64"]
    await tools.call("scrape", {"url": url, "formats": everything, "onlyMainContent": False})
    lines = {"type": "object", "properties": {"text": {"type": "string"}}}
    for name, arguments in [
        ("crawl", {"url": url, "limit": 2, "scrapeOptions": {"formats": everything}}),
        ("batch", {"urls": [url, f"{url}?again"], "formats": everything}),
        ("extract", {"urls": [url], "schema": lines}),
        ("agent", {"prompt": "the text", "urls": [url], "schema": lines}),
        ("search", {"query": "paragraph", "scrapeOptions": {"formats": everything}}),
        ("map", {"url": url}),
        ("parse", {"name": "large.html", "text": "<p>" + "A word and another. " * 100_000}),
    ]:
        await tools.call(name, arguments)
    monitor = {"name": "L", "schedule": {"text": "hourly"}, "targets": [{"type": "scrape", "urls": [url]}]}
    id = found(r"Monitor: (\S+)", await tools.text("monitor", monitor))
    check = found(r"Check: (\S+)", await tools.text("monitor_run", {"id": id}))
    await tools.text("monitor_checks", {"id": id, "check": check})
    await tools.text("monitor_delete", {"id": id})
    browser = found(r"Session id: (\S+)", await tools.text("browser", {"ttl": 120}))
    for code in ["get text body", "get html body", "snapshot"]:
        run = {"id": browser, "language": "bash", "code": f"open {url} && {code}"}
        await tools.call("browser_execute", run)
    await tools.text("browser_close", {"id": browser})


async def check(server):
    async with Client(server) as client:
        names = await check_listing(client)
        tools = Tools(client)
        await check_pages(tools)
        await check_jobs(tools)
        await check_monitors(tools)
        await check_sessions(tools)
        await check_large(tools)
        assert tools.called >= names, names - tools.called
        print(client.protocol_version, len(names), "tools")


async def main():
    environment = {"HARVESTMAN_API_URL": api_url, "HARVESTMAN_API_KEY": api_key}
    await check(StdioServerParameters(command=program, args=["mcp"], env=environment))
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {api_key}"}, timeout=120) as http:
        await check(streamable_http_client(f"{api_url}/mcp", http_client=http))
    answer = httpx2.post(f"{api_url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert answer.status_code == 401, answer
    # A client of the protocol before sessions were removed.
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {api_key}"}) as http:
        transport = streamable_http_client(f"{api_url}/mcp", http_client=http)
        async with Client(transport, mode="legacy") as client:
            assert len((await client.list_tools()).tools) > 10


asyncio.run(main())
print("python mcp: ok")
