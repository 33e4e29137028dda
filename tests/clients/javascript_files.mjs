// The JavaScript client with a running server: uploaded files.
// Usage: javascript_files.mjs API_URL API_KEY PDF, a PDF with three numbered pages.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

// NODE_PATH names the folder of the packages.
const { default: Firecrawl } = createRequire(process.env.NODE_PATH + "/")("@mendable/firecrawl-js");

const [apiUrl, apiKey, path] = process.argv.slice(2);
const client = new Firecrawl({ apiKey, apiUrl });
const data = await readFile(path);

const document = await client.parse({ data, filename: "some.pdf", contentType: "application/pdf" });
for (const number of [1, 2, 3]) assert.ok(document.markdown.includes(`Page ${number}`), document.markdown);
assert.deepEqual([document.metadata.numPages, document.metadata.creditsUsed], [3, 3]);
assert.equal(document.metadata.sourceURL, "some.pdf");

const options = { formats: ["markdown", "html"], parsers: [{ type: "pdf", maxPages: 2 }] };
const part = await client.parse({ data, filename: "some.pdf" }, options);
assert.ok(part.html.includes("Page 2") && !part.markdown.includes("Page 3"), part.markdown);
assert.deepEqual([part.metadata.numPages, part.metadata.totalPages], [2, 3]);

await assert.rejects(client.parse({ data: Buffer.from("ID3\0"), filename: "song.mp3" }), /song\.mp3/);

console.log("javascript files: ok");
