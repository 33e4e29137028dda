// Native code and wasm return the same content: for the pages of the content tests and, if HARVESTMAN_CORPUS names a
// folder of `pages-*.jsonl.gz`, for all pages there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { load, setting } from './package.mjs';

const hm = await load();
const own = join(dirname(fileURLToPath(import.meta.url)), '../../crates/content/tests/pages');

/** URL of a page whose own is none: both sides refuse that. */
const BASE = 'https://page.test/';

/** Yields `{ id, url, html }` of every page. */
function* pages() {
  for (const name of readdirSync(own).filter((name) => name.endsWith('.html'))) {
    yield { id: name, url: `https://site.test/pages/${name}`, html: readFileSync(join(own, name), 'utf8') };
  }
  const corpus = process.env.HARVESTMAN_CORPUS;
  for (const name of corpus ? readdirSync(corpus).filter((name) => /^pages-.*\.jsonl\.gz$/.test(name)) : []) {
    const lines = gunzipSync(readFileSync(join(corpus, name))).toString().split('\n');
    for (const { id, url, html } of lines.filter(Boolean).map((line) => JSON.parse(line))) yield { id, url: /^https?:\/\//.test(url) && URL.canParse(url) ? url : BASE, html };
  }
}

/** Returns the documents of `harvestman convert`, in order. */
const native = (list, onlyMainContent) =>
  execFileSync(
    setting('HARVESTMAN_TEST_SERVER'),
    ['convert', '--jsonl', '--formats', 'markdown,html,links', '--only-main-content', String(onlyMainContent)],
    { input: list.map((page) => JSON.stringify(page)).join('\n'), encoding: 'utf8', maxBuffer: 2 ** 30 },
  ).trim().split('\n').map((line) => JSON.parse(line));

// Metadata of fetched pages only.
const fetched = ['scrapeId', 'sourceURL', 'url', 'statusCode', 'contentType', 'creditsUsed', 'proxyUsed', 'cacheState', 'concurrencyLimited', 'timezone'];

test('Markdown, HTML, links and metadata equal those of the server', () => {
  const list = [...pages()];
  assert.ok(list.length >= 10);
  for (const onlyMainContent of [true, false]) {
    const documents = native(list, onlyMainContent);
    assert.equal(documents.length, list.length);
    list.forEach(({ id, url, html }, at) => {
      const { markdown, html: clean, links, metadata, id: answered } = documents[at];
      assert.equal(answered, id);
      const options = { url, onlyMainContent };
      assert.equal(hm.htmlToMarkdown(html, options), markdown, id);
      assert.equal(hm.cleanHtml(html, options), clean, id);
      assert.deepEqual(hm.extractLinks(html, options), links, id);
      for (const name of fetched) delete metadata[name];
      assert.deepEqual(hm.extractMetadata(html, options), metadata, id);
    });
  }
});
