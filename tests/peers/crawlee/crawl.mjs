// Crawls a site with Crawlee and converts every page to Markdown, for `cargo xtask bench compare`. Keeps URL, title,
// Markdown and links of every page in memory; stores nothing.
//
// Usage: crawl.mjs URL LIMIT. Prints the pages and the bytes of Markdown as JSON.

import { CheerioCrawler, Configuration, log } from "@crawlee/cheerio";
import TurndownService from "turndown";

const [start, limit] = [process.argv[2], Number(process.argv[3])];
log.setLevel(log.LEVELS.OFF);
const turndown = new TurndownService();
const documents = [];
const crawler = new CheerioCrawler(
  {
    maxRequestsPerCrawl: limit,
    maxConcurrency: 64,
    async requestHandler({ $, request, body, enqueueLinks }) {
      const links = new Set();
      $("a[href]").each((_, link) => {
        const href = $(link).attr("href");
        if (URL.canParse(href, request.loadedUrl)) links.add(new URL(href, request.loadedUrl).href);
      });
      documents.push({
        url: request.loadedUrl,
        title: $("title").text(),
        markdown: turndown.turndown(body.toString()),
        links: [...links],
      });
      await enqueueLinks({ strategy: "same-hostname" });
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run([start]);
const bytes = documents.reduce((sum, { markdown }) => sum + Buffer.byteLength(markdown), 0);
console.log(JSON.stringify({ pages: documents.length, markdownBytes: bytes }));
