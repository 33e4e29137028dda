"""The Python client with a running server: data from pages with the json format, extracts and agents.

Usage: python_extract.py API_URL API_KEY CUP_URL POT_URL, two products; prompts with "wait" get no reply.
"""

import sys
import time
import warnings

from firecrawl import Firecrawl
from pydantic import BaseModel

warnings.simplefilter("ignore")
api_url, api_key, cup, pot = sys.argv[1:5]
client = Firecrawl(api_key=api_key, api_url=api_url)


class Product(BaseModel):
    name: str
    price: float


schema = Product.model_json_schema()
products = {
    "type": "object",
    "properties": {"products": {"type": "array", "items": schema}},
    "required": ["products"],
}

# Formats of a scrape.
document = client.scrape(cup, formats=["markdown", "summary", {"type": "json", "schema": Product, "prompt": "the product"}])
assert document.json == {"name": "Cup", "price": 9.5}, document.json
assert document.summary == "A product.", document.summary
assert document.metadata.credits_used == 5, document.metadata

# An extract that the client waits for, and one that is polled.
done = client.extract([cup, pot], schema=products, prompt="all products", show_sources=True, poll_interval=1)
assert done.success and done.status == "completed", done
assert [product["name"] for product in done.data["products"]] == ["Cup", "Pot"], done.data
assert done.sources["products"] == [cup, pot], done.sources
assert done.credits_used == 10 and done.tokens_used == 150 and done.expires_at, done
started = client.start_extract([cup], schema=schema)
while (status := client.get_extract_status(started.id)).status == "processing":
    time.sleep(0.1)
assert status.data["price"] == 9.5, status

# An agent that the client waits for, with a pydantic model.
done = client.agent([cup], prompt="The price of the cup", schema=Product, model="spark-1-mini", poll_interval=1)
assert done.success and done.status == "completed", done
assert done.data == {"name": "Cup", "price": 9.5}, done
assert done.credits_used == 5 and done.model == "spark-1-mini" and done.expires_at, done

# A cancelled agent.
started = client.start_agent([cup], prompt="wait for ever")
assert client.get_agent_status(started.id).status == "processing"
assert client.cancel_agent(started.id) is True
cancelled = client.get_agent_status(started.id)
assert (cancelled.status, cancelled.error) == ("failed", "cancelled"), cancelled
assert client.get_extract_status(started.id).status == "cancelled"

# A conversation: the next run of a thread, its trace, and a page as the agent read it.
assert done.thread_id and done.thread_turn == 1, done
again = client.agent(None, prompt="And again", schema=Product, thread_id=done.thread_id, effort="low", poll_interval=1)
assert (again.status, again.thread_id, again.thread_turn) == ("completed", done.thread_id, 2), again
thread = client.get_agent_thread(done.thread_id, include_data=True).thread
assert (thread.id, thread.status, [run.turn for run in thread.runs]) == (done.thread_id, "idle", [1, 2]), thread
assert thread.runs[0].data == {"name": "Cup", "price": 9.5} and thread.runs[1].effort == "low", thread
trace = client.get_agent_trace(thread.runs[1].id, live_view=True)
assert trace.events[0].type == "run.started" and trace.events[-1].outcome == "succeeded", trace
assert trace.active_browser_sessions == [] and trace.zero_data_retention is False, trace
page = next(event.artifact for event in trace.events if event.type == "artifact.updated")
assert (page.kind, page.path) == ("markdown", cup), page
snapshot = client.get_agent_snapshot(thread.runs[1].id, page.snapshot_id)
assert "This is a Cup" in snapshot.snapshot, snapshot

# The list of agents.
listed = client.list_agents()
assert listed.success and len(listed.agents) == 3, listed
assert listed.agents[1].id == started.id, listed

print("python extract: ok")
