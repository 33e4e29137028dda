"""Crawls a site with Scrapy and converts every page to Markdown, for `cargo xtask bench compare`.

Keeps URL, title, Markdown and links of every page in memory; stores nothing.

Usage: crawl.py URL LIMIT. Prints the pages and the bytes of Markdown as JSON.
"""

import json
import sys
from urllib.parse import urlsplit

import scrapy
from html_to_markdown import convert
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

START, LIMIT = sys.argv[1], int(sys.argv[2])
documents = []


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [START]
    allowed_domains = [urlsplit(START).hostname]
    links = LinkExtractor()

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        found = self.links.extract_links(response)
        markdown = convert(response.text)
        documents.append(
            {
                "url": response.url,
                "title": response.css("title::text").get(),
                "markdown": getattr(markdown, "content", markdown),
                "links": [link.url for link in found],
            }
        )
        if len(documents) >= LIMIT:
            raise scrapy.exceptions.CloseSpider("limit")
        for link in found:
            if urlsplit(link.url).netloc == urlsplit(START).netloc:
                yield response.follow(link)


process = CrawlerProcess(
    {
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(Pages)
process.start()
size = sum(len(document["markdown"].encode()) for document in documents)
print(json.dumps({"pages": len(documents), "markdownBytes": size}))
