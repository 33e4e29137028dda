"""The Python client with a running server: searches in crawled pages.

Usage: python_search.py API_URL API_KEY SITE, a documentation site.
"""

import sys

from firecrawl import Firecrawl
from firecrawl.v2.types import Document, ScrapeOptions, SearchResultWeb

api_url, api_key, site = sys.argv[1:4]
client = Firecrawl(api_key=api_key, api_url=api_url)
crawled = client.crawl(site, limit=10)
page = crawled.data[3]

# Results without pages have a description.
found = client.search(page.metadata.title, limit=3)
assert "No search provider" in found.warning, found
assert 1 <= len(found.web) <= 3 and all(isinstance(one, SearchResultWeb) for one in found.web), found
assert found.web[0].url == page.metadata.url and found.web[0].title == page.metadata.title, found
assert found.web[0].description, found

# Results with their pages.
options = ScrapeOptions(formats=["markdown", "links"])
found = client.search(page.metadata.title, limit=2, scrape_options=options, ignore_invalid_urls=True)
assert all(isinstance(one, Document) and one.markdown for one in found.web), found
assert found.web[0].metadata.source_url == page.metadata.url, found

# No results from other domains; sources that need a search provider are refused.
assert client.search("anything", include_domains=["elsewhere.test"], tbs="qdr:w", location="Germany").web == []
try:
    client.search("anything", sources=["news"])
    raise SystemExit("a search for news was accepted")
except Exception as error:
    assert "search provider" in str(error), error

print("python search: ok")
