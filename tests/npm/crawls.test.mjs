// The same crawls on the server, in Node.js and in Chromium under a strict content security policy: the crawl cases,
// and a documentation site.
import assert from 'node:assert/strict';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installed, load, setting } from './package.mjs';
import { listen, startServer } from './server.mjs';
import { collect, docs, DOCS_PAGES, expectVisited, webOf } from './webs.mjs';

const { Harvestman, LocalCrawler } = await load();
const here = dirname(fileURLToPath(import.meta.url));
const { cases } = JSON.parse(readFileSync(join(here, '../../crates/core/tests/data/cases.json'), 'utf8'));
const { chromium } = createRequire(join(setting('HARVESTMAN_TEST_JAVASCRIPT'), 'package.json'))('playwright-core');

let site, proxy, own, server, browser, page, root, client, web;
before(async () => {
  site = createServer((request, response) => {
    const { status, type, body, location } = docs(root, new URL(request.url, root).pathname);
    response.writeHead(status, { 'content-type': type, 'access-control-allow-origin': '*', ...(location && { location }) }).end(body);
  });
  root = `http://127.0.0.1:${await listen(site)}`;

  // The server reaches the web of a case through a proxy, in which every name leads to that web.
  proxy = createServer(async (request, response) => {
    const url = new URL(request.url, `http://${request.headers.host}`).href;
    const found = url.startsWith(root) ? await fetch(url, { redirect: 'manual' }) : await webOf(web)(url);
    const { 'content-encoding': coding, ...headers } = Object.fromEntries(found.headers);
    response.writeHead(found.status, headers).end(Buffer.from(await found.arrayBuffer()));
  });
  const port = await listen(proxy);
  proxy.on('connect', (_, socket) => {
    const tunnel = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    tunnel.pipe(socket).pipe(tunnel);
    for (const end of [socket, tunnel]) end.on('error', () => {});
  });
  server = await startServer({ HARVESTMAN_PROXY: `http://127.0.0.1:${port}`, HARVESTMAN_PROXY_REMOTE_DNS: '1' });
  client = new Harvestman({ apiUrl: server.apiUrl, apiKey: server.key });

  own = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://own');
    if (pathname === '/') {
      const policy = `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${root}`;
      return response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end('<!doctype html><title>crawl</title>');
    }
    const file = pathname === '/webs.mjs' ? join(here, 'webs.mjs') : join(installed, pathname);
    if (!existsSync(file)) return response.writeHead(404).end();
    const type = pathname.endsWith('.wasm') ? 'application/wasm' : 'text/javascript';
    createReadStream(file).pipe(response.writeHead(200, { 'content-type': type }));
  });
  const origin = `http://127.0.0.1:${await listen(own)}`;
  browser = await chromium.launch({ executablePath: setting('HARVESTMAN_CHROMIUM'), args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
  page = await browser.newPage();
  await page.goto(`${origin}/`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  for (const one of [site, proxy, own]) {
    one?.closeAllConnections();
    one?.close();
  }
});

/** Crawls in Chromium; with `given`, on its web. */
const inChromium = (request, given) =>
  page.evaluate(async ([request, given]) => {
    const [{ LocalCrawler }, { collect, webOf }] = await Promise.all([import('/browser.js'), import('/webs.mjs')]);
    return collect(new LocalCrawler({ ...request, ...(given && { fetch: webOf(given) }) }).run());
  }, [request, given]);

const onServer = async ({ url, ...request }) => {
  const { data } = await client.crawl(url, { ...request, timeoutMs: 120_000 });
  return data;
};

const byUrl = (documents) => documents.map(({ markdown, metadata: { sourceURL, statusCode, title } }) => ({ sourceURL, statusCode, title, markdown })).sort((one, other) => (one.sourceURL < other.sourceURL ? -1 : 1));

/** Returns a case with host names of its own: the server remembers robots.txt files and slow hosts. */
const withOwnHosts = (given, number) => JSON.parse(JSON.stringify(given).replace(/\b(site|third|other)((?:\\\\)?\.test)/g, `$1${number}$2`));

test('the server, Node.js and Chromium visit the pages in the crawl cases, with the same documents', async () => {
  for (const [number, { name, request, expect, ...given }] of cases.map(withOwnHosts).entries()) {
    web = given;
    // The order of discovery is that of fetching one page at a time.
    const options = { ...request, maxConcurrency: 1 };
    const found = [await onServer({ ...options, scrapeOptions: { ...options.scrapeOptions, maxAge: 0 } }), await collect(new LocalCrawler({ ...options, fetch: webOf(given) }).run()), await inChromium(options, given)].map(byUrl);
    for (const documents of found) expectVisited(assert, documents.map((one) => one.sourceURL), expect);
    // What is only in a group or a range may differ between crawls.
    if (expect.one_of || expect.within) continue;
    assert.deepEqual(found[1], found[0], `${number} ${name}: Node.js and the server`);
    assert.deepEqual(found[2], found[0], `${number} ${name}: Chromium and the server`);
  }
});

test('the server, Node.js and Chromium crawl a documentation site to the same pages and Markdown', async () => {
  const request = { url: `${root}/`, limit: 600, crawlEntireDomain: true, ignoreQueryParameters: true };
  const [remote, local, chrome] = (await Promise.all([onServer(request), collect(new LocalCrawler(request).run()), inChromium(request)])).map(byUrl);
  // Pages 13 and 131 to 139 are blocked by robots.txt; the last page links to one that does not exist.
  assert.equal(remote.length, DOCS_PAGES - 10 + 1);
  assert.ok(remote.every(({ markdown, statusCode }) => markdown.length > 200 || statusCode === 404));
  assert.deepEqual(local, remote);
  assert.deepEqual(chrome, remote);
});
