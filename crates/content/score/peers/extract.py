"""Extracts the main content of pages with another library, for `cargo xtask score --peers`. The argument names the
library. Reads JSON lines (`id`, `url`, `html`) and writes JSON lines (`id`, `markdown`)."""
import json
import logging
import sys


def trafilatura(html, url):
    import trafilatura
    return trafilatura.extract(html, url=url, output_format="markdown", include_comments=False, include_links=True,
                               include_images=True, include_formatting=True)


def readability(html, url):
    from markdownify import markdownify
    from readability import Document
    return markdownify(Document(html, url=url).summary(html_partial=True), heading_style="ATX")


extract = {"trafilatura": trafilatura, "readability-lxml": readability}[sys.argv[1]]
logging.disable()
for line in sys.stdin:
    page = json.loads(line)
    try:
        markdown = extract(page["html"], page.get("url"))
    except Exception:  # a page on which the library fails counts as empty
        markdown = None
    print(json.dumps({"id": page["id"], "markdown": markdown or ""}))
