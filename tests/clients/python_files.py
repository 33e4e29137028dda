"""The Python client with a running server: uploaded files and the list of formats.

Usage: python_files.py API_URL API_KEY PDF, a PDF with three numbered pages.
"""

import sys
from pathlib import Path

from firecrawl import Firecrawl
from firecrawl.v2.types import PDFParser, ScrapeOptions
from firecrawl.v2.utils.error_handler import BadRequestError

api_url, api_key, pdf = sys.argv[1], sys.argv[2], Path(sys.argv[3])
client = Firecrawl(api_key=api_key, api_url=api_url)

# From a path.
document = client.parse(pdf)
assert all(f"Page {number}" in document.markdown for number in (1, 2, 3)), document.markdown
about = document.metadata
assert (about.num_pages, about.total_pages, about.credits_used) == (3, 3, 3), about
assert about.status_code == 200 and about.source_url == pdf.name and about.scrape_id, about

# From memory, with options.
options = ScrapeOptions(formats=["markdown", "html"], parsers=[PDFParser(type="pdf", max_pages=2)])
document = client.parse(pdf.read_bytes(), filename="some.pdf", options=options)
assert "Page 2" in document.markdown and "Page 3" not in document.markdown, document.markdown
assert "Page 2" in document.html and document.metadata.num_pages == 2, document.metadata

# Supported formats; an unsupported file.
formats = {kind.format: kind for kind in client.get_parse_formats()}
assert formats["pdf"].available and ".docx" in formats["docx"].extensions, formats
try:
    client.parse(b"ID3\0", filename="song.mp3")
    raise SystemExit("a song was parsed")
except BadRequestError as error:
    assert "song.mp3" in str(error), error

print("python files: ok")
