// The examples in the README of firecrawl-js, with its import changed and URLs of a local site.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { project, setting } from './package.mjs';
import { listen, startServer } from './server.mjs';

const modules = join(setting('HARVESTMAN_TEST_JAVASCRIPT'), 'node_modules');
const readme = readFileSync(join(modules, '@mendable/firecrawl-js/README.md'), 'utf8');
const examples = [...readme.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code]) => code);
/** What the service offers only in its own cloud. */
const CLOUD = ["formats: ['video']", 'app.developerSearch', 'app.research', 'app.v1'];
/** What an example takes from the one before it. */
const BEFORE = [['getCrawlStatus(id)', (root) => `const { id } = await app.startCrawl('${root}/', { limit: 1 });`]];

const PRODUCT = `<title>Lamp</title><script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Lamp","offers":{"@type":"Offer","price":"19.90","priceCurrency":"EUR","availability":"https://schema.org/InStock"}}</script><main><h1>Lamp</h1><p>A lamp.</p></main>`;
const MENU = `<title>Menu</title><script type="application/ld+json">{"@context":"https://schema.org","@type":"Restaurant","name":"Web","hasMenu":{"@type":"Menu","hasMenuSection":{"@type":"MenuSection","name":"Soups","hasMenuItem":{"@type":"MenuItem","name":"Dew","offers":{"@type":"Offer","price":"3.50","priceCurrency":"EUR"}}}}}</script><main><h1>Menu</h1></main>`;
const PAGES = {
  '/': '<title>Start</title><main><h1>Start</h1><p>Words about spiders and their webs.</p><a href="/pricing">Pricing</a> <a href="/blog/1">Blog</a></main>',
  '/pricing': '<title>Pricing</title><main><h1>Pricing</h1><p>Nothing to pay for spiders here.</p></main>',
  '/blog/1': '<title>Blog</title><main><h1>Blog</h1><p>News of the web and changelog of the threads.</p></main>',
  '/product/123': PRODUCT,
  '/restaurant/menu': MENU,
};
/** What the output of an example must contain. */
const PRINTED = [
  ['scrapeResponse', /Words about spiders/],
  ['product/123', /Lamp/],
  ['restaurant/menu', /Soups/],
  ['parsed.markdown', /# Hello parse/],
  ['app.extract(', /title: 'Start'/],
  ['app.map(', /\/pricing/],
  ['app.interact(', /\/pricing/],
  ["kind: 'crawl'", /DOC[\s\S]*DONE completed/],
  ["kind: 'batch'", /DOC[\s\S]*DONE completed/],
];

let site, root, server;
before(async () => {
  site = createServer((request, response) => {
    const body = PAGES[new URL(request.url, 'http://site').pathname];
    response.writeHead(body ? 200 : 404, { 'content-type': 'text/html' }).end(body ?? '<h1>Not found</h1>');
  });
  root = `http://127.0.0.1:${await listen(site)}`;
  server = await startServer({ HARVESTMAN_CHROMIUM: setting('HARVESTMAN_CHROMIUM'), HARVESTMAN_NODE: setting('HARVESTMAN_TEST_NODE') });
  symlinkSync(join(modules, 'zod'), join(project, 'node_modules/zod'));
});
after(async () => {
  site?.closeAllConnections();
  site?.close();
  await server?.stop();
});

/** Returns the program of an example: with its import changed, and what it takes from earlier examples. */
function programOf(code) {
  const head = code.includes('import { Firecrawl }') ? '' : "import { Firecrawl } from 'firecrawl';\nconst app = new Firecrawl({ apiKey: 'fc-YOUR_API_KEY' });\n";
  const earlier = BEFORE.filter(([word]) => code.includes(word)).map(([, text]) => text(root));
  return [head, ...earlier, code]
    .join('\n')
    .replace("from 'firecrawl'", "from 'harvestman'")
    .replaceAll('fc-YOUR_API_KEY', server.key)
    .replaceAll(/https:\/\/(firecrawl\.dev|mendable\.ai|example\.com)\/?/g, `${root}/`);
}

const own = examples.filter((code) => !CLOUD.some((word) => code.includes(word)));

test('the examples are known', () => {
  assert.deepEqual([examples.length, own.length], [21, 17]);
  for (const word of [...CLOUD, ...BEFORE.map(([word]) => word), ...PRINTED.map(([word]) => word)]) assert.ok(examples.some((code) => code.includes(word)), word);
});

for (const [at, code] of own.entries()) {
  const title = code.split('\n').find((line) => line.includes('await')) ?? code;
  test(`example ${at + 1} of firecrawl-js runs: ${title.trim()}`, async () => {
    const file = join(project, `example-${at}.mjs`);
    writeFileSync(file, programOf(code));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: project, timeout: 120_000, env: { PATH: process.env.PATH, FIRECRAWL_API_URL: server.apiUrl } });
    for (const [word, printed] of PRINTED) if (code.includes(word)) assert.match(stdout, printed);
  });
}
