// Crawls without a server: the cases of the crawl rules, the same pages and documents as the server's, and resuming.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { load } from './package.mjs';
import { listen, startServer } from './server.mjs';
import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { collect, expectVisited, webOf } from './webs.mjs';

const { Harvestman, LocalCrawler, ValidationError } = await load();
const { cases } = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../../crates/core/tests/data/cases.json'), 'utf8'));

const html = (body, status = 200) => new Response(body, { status, headers: { 'content-type': 'text/html' } });

for (const { name, request, expect: wanted, ...web } of cases) {
  test(`a local crawl follows the crawl rules: ${name}`, async () => {
    // The order of discovery is that of fetching one page at a time.
    const crawler = new LocalCrawler({ ...request, maxConcurrency: 1, fetch: webOf(web) });
    const visited = (await collect(crawler.run())).map((page) => page.metadata.sourceURL);
    expectVisited(assert, visited, wanted);
    assert.equal(crawler.counts.completed, visited.length);
  });
}

let site, root, server;
before(async () => {
  const page = (title, body, links = []) => `<!doctype html><html lang="en"><head><title>${title}</title></head><body><nav><a href="/">Home</a></nav><main><h1>${title}</h1>${body}<ul>${links.map((to) => `<li><a href="${to}">${to}</a></li>`).join('')}</ul></main></body></html>`;
  const table = '<table><tr><th>a</th><th>b</th></tr><tr><td>1 &amp; 2</td><td><code>x</code></td></tr></table>';
  const pages = {
    '/': page('Start', '<p>Plenty of <b>words</b> on the first page of the site.</p>', ['/a', '/moved', '/meta', '/latin', '/japanese', '/gone', '/private/x', '/frames', '/text.txt', '//other.test/']),
    '/a': page('A', `<p>Text of the page with a table, <em>emphasis</em> and a list.</p>${table}`, ['/a/1', '/a/2?b=1', '/a#part']),
    '/a/1': page('A one', '<pre><code class="language-js">let x = 1;\n</code></pre><blockquote>Quoted</blockquote>'),
    '/a/2': page('A two', '<p>With a query <img src="/i.png" alt="picture"></p>'),
    '/target': page('Target', '<p>Where redirects lead.</p>', ['/late']),
    '/after': page('After', '<p>Reached by a refresh of the page.</p>'),
    '/late': page('Late', '<p>Only linked from a redirected page.</p>'),
    '/left': page('Left', '<p>The left frame has this sentence in it.</p>'),
    '/right': page('Right', '<p>The right frame has another sentence in it.</p>', ['/a']),
    '/mapped': page('Mapped', '<p>Only in the sitemap.</p>'),
  };
  site = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://site');
    const send = (status, type, body, headers = {}) => response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    if (pathname === '/robots.txt') return send(200, 'text/plain', `User-agent: *\nDisallow: /private\nSitemap: ${root}/map.xml.gz\n`);
    if (pathname === '/map.xml.gz') return send(200, 'application/gzip', gzipSync(`<urlset><url><loc>${root}/mapped</loc></url></urlset>`));
    if (pathname === '/moved') return send(302, 'text/plain', '', { location: '/target' });
    if (pathname === '/meta') return send(200, 'text/html', '<meta http-equiv="refresh" content="0; url=/after">');
    if (pathname === '/latin') return send(200, 'text/html; charset=iso-8859-1', Buffer.from('<main><h1>Caf\xe9</h1><p>Cr\xe8me br\xfbl\xe9e</p></main>', 'latin1'));
    if (pathname === '/japanese') return send(200, 'text/html', Buffer.from('<meta charset=shift_jis><title>J</title><main><h1>\x93\x8c\x8b\x9e</h1><p>\x82\xa0\x82\xa2</p></main>', 'latin1'));
    if (pathname === '/frames') return send(200, 'text/html', '<html><head><title>Frames</title></head><frameset cols="50%,50%"><frame src="/left"><frame src="/right"></frameset></html>');
    if (pathname === '/text.txt') return send(200, 'text/plain; charset=utf-8', 'Plain text\nwith two lines\n');
    return pages[pathname] ? send(200, 'text/html; charset=utf-8', pages[pathname]) : send(404, 'text/html', page('Not found', '<p>There is no such page.</p>'));
  });
  root = `http://127.0.0.1:${await listen(site)}`;
  server = await startServer();
});
after(async () => {
  await server?.stop();
  site?.closeAllConnections();
  site?.close();
});

test('a local crawl and the server return the same pages and the same documents', async () => {
  const scrapeOptions = { formats: ['markdown', 'html', 'links', 'summary', { type: 'json', schema: { properties: { title: { type: 'string', pattern: '^[A-Z]' } } } }] };
  const options = { url: `${root}/`, limit: 50, scrapeOptions };
  const client = new Harvestman({ apiUrl: server.apiUrl, apiKey: server.key });
  const { url, ...request } = options;
  const remote = await client.crawl(url, { ...request, timeoutMs: 60_000 });
  const errors = [];
  const progress = [];
  const crawler = new LocalCrawler(options);
  const local = await collect(crawler.run({ onError: (error) => errors.push(error), onProgress: (now) => progress.push(now) }));
  const byUrl = (documents) => documents.map(({ markdown, html, links, summary, json, warning, metadata }) => {
    const { sourceURL, url, title, language, statusCode, contentType, error } = metadata;
    return { sourceURL, url, title, language, statusCode, contentType, error, markdown, html, links, summary, json, warning };
  }).sort((one, other) => (one.sourceURL < other.sourceURL ? -1 : 1));
  assert.equal(local.length, 13);
  assert.deepEqual(byUrl(local), byUrl(remote.data));
  assert.deepEqual(errors, []);
  assert.equal(progress.at(-1).status, 'completed');
  assert.deepEqual([crawler.counts.completed, crawler.counts.robotsBlocked], [local.length, 1]);
  assert.match(local.find((page) => page.metadata.sourceURL.endsWith('/japanese')).markdown, /^# 東京/);
  assert.match(local.find((page) => page.metadata.sourceURL.endsWith('/frames')).markdown, /right frame has another sentence/);
});

const bigWeb = { web: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`http://big.test/${at || ''}`, [`/${2 * at + 1}`, `/${2 * at + 2}`]])) };

test('a stopped crawl continues from its snapshot and returns each page once', async () => {
  const first = new LocalCrawler({ url: 'http://big.test/', limit: 20, maxConcurrency: 4, fetch: webOf(bigWeb) });
  const seen = [];
  for await (const page of first.run()) {
    seen.push(page.metadata.sourceURL);
    if (seen.length === 5) first.stop();
  }
  assert.ok(seen.length >= 5 && seen.length < 20, `${seen.length}`);
  const snapshot = JSON.parse(JSON.stringify(first.snapshot()));
  const second = new LocalCrawler({ snapshot, fetch: webOf(bigWeb) });
  for await (const page of second.run()) seen.push(page.metadata.sourceURL);
  assert.deepEqual([seen.length, new Set(seen).size], [20, 20]);
  assert.equal(second.counts.status, 'completed');
});

test('leaving the loop and aborting keep what is known', async () => {
  const crawler = new LocalCrawler({ url: 'http://big.test/', limit: 12, maxConcurrency: 3, fetch: webOf(bigWeb) });
  const seen = [];
  for await (const page of crawler.run()) {
    seen.push(page.metadata.sourceURL);
    if (seen.length === 3) break;
  }
  const stop = new AbortController();
  const reason = new Error('enough');
  await assert.rejects(async () => {
    for await (const page of crawler.run({ signal: stop.signal })) {
      seen.push(page.metadata.sourceURL);
      stop.abort(reason);
    }
  }, (error) => error === reason);
  for await (const page of crawler.run()) seen.push(page.metadata.sourceURL);
  assert.deepEqual([seen.length, new Set(seen).size], [12, 12]);
});

test('allowUrl, maxBodyBytes and userAgent apply to every request', async () => {
  const agents = new Set();
  const fetch = async (url, { headers }) => {
    agents.add(headers.get('user-agent'));
    const path = new URL(url).pathname;
    if (path === '/robots.txt') return new Response('User-agent: mine\nDisallow: /no\n');
    if (path === '/away') return new Response(null, { status: 302, headers: { location: 'http://10.0.0.1/' } });
    return html(path === '/' ? '<a href=/no>n</a><a href=/away>a</a><a href=/large>l</a>' : 'x'.repeat(5000));
  };
  const errors = {};
  const crawler = new LocalCrawler({ url: 'http://a.test/', fetch, userAgent: 'mine/1.0', maxBodyBytes: 1000, allowUrl: (url) => !url.includes('10.0.0.1') });
  const pages = await collect(crawler.run({ onError: ({ url, code }) => (errors[new URL(url).pathname] = code) }));
  assert.deepEqual(pages.map((page) => page.metadata.sourceURL), ['http://a.test/']);
  assert.deepEqual(errors, { '/away': 'UNSAFE_TARGET', '/large': 'SCRAPE_SITE_ERROR' });
  assert.deepEqual([...agents], ['mine/1.0']);
});

test('private headers go to the origin of the start page only', async () => {
  const links = '<a href="/own">x</a><a href="https://docs.site.test/">x</a><a href="https://other.test/page">x</a>';
  const received = {};
  const crawler = new LocalCrawler({
    url: 'https://site.test/',
    allowExternalLinks: true,
    allowSubdomains: true,
    scrapeOptions: { headers: { Authorization: 'Bearer 1', cookie: 'a=b', 'X-Own': '1' } },
    fetch: async (url, { headers }) => {
      const { pathname } = new URL(url);
      if (pathname === '/robots.txt' || pathname.endsWith('.xml')) return html('', 404);
      received[url] = ['authorization', 'cookie', 'x-own'].filter((name) => headers.has(name));
      return html(url === 'https://site.test/' ? links : '<h1>Page</h1>');
    },
  });
  await collect(crawler.run());
  const all = ['authorization', 'cookie', 'x-own'];
  assert.deepEqual(received, { 'https://site.test/': all, 'https://site.test/own': all, 'https://docs.site.test/': ['x-own'], 'https://other.test/page': ['x-own'] });
});

test('a site that cannot be reached fails the crawl with a reason', async () => {
  const crawler = new LocalCrawler({ url: 'http://127.0.0.1:1/', delay: 0.01, sitemap: 'skip' });
  assert.deepEqual(await collect(crawler.run()), []);
  assert.equal(crawler.counts.status, 'failed');
  assert.match(crawler.counts.error, /127\.0\.0\.1/);
});

test('options that need a server, wrong types and foreign snapshots are refused', async () => {
  const refused = (options, name) => assert.rejects(collect(new LocalCrawler(options).run()), (error) => error instanceof ValidationError && error.message.includes(name));
  await refused({ url: 'http://a.test/', webhook: 'http://b.test/' }, 'webhook');
  await refused({ url: 'http://a.test/', scrapeOptions: { formats: ['screenshot'] } }, 'screenshot');
  await refused({ url: 'http://a.test/', limitt: 5 }, 'limitt');
  await refused({ url: 'http://a.test/', snapshot: { version: 1, request: {}, state: '{}', pending: [] } }, 'snapshot');
  assert.throws(() => new LocalCrawler({ snapshot: {} }), ValidationError);
  assert.throws(() => new LocalCrawler({ url: 5 }), TypeError);
  assert.throws(() => new LocalCrawler({ url: 'http://a.test/', fetch: 'x' }), TypeError);
  assert.throws(() => new LocalCrawler({ url: 'http://a.test/', userAgent: 'a\nb' }), ValidationError);
});

test('memory after a crawl of 5,000 pages is what it was after 500', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  const used = async () => {
    for (let round = 0; round < 3; round++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { arrayBuffers, external, heapUsed } = process.memoryUsage();
    return { wasm: arrayBuffers + external, heap: heapUsed };
  };
  const text = 'Words about spiders and their webs. '.repeat(100);
  const fetch = async (address) => {
    const page = Number(new URL(address).pathname.slice(1));
    const links = [2 * page + 1, 2 * page + 2].filter((to) => to < 5000).map((to) => `<a href="/${to}">Page ${to}</a>`);
    return html(`<title>Page ${page}</title><main><h1>Page ${page}</h1><p>${text}</p>${links.join(' ')}</main>`);
  };
  const crawler = new LocalCrawler({ url: 'http://large.test/', limit: 5000, sitemap: 'skip', ignoreRobotsTxt: true, fetch });
  let count = 0;
  let early;
  for await (const page of crawler.run()) {
    count += page.markdown.length > 1000 ? 1 : 0;
    if (count === 500) early = await used();
  }
  assert.equal(count, 5000);
  const late = await used();
  // The crawl remembers its URLs; a page is larger.
  const limit = 4500 * 1000;
  assert.ok(text.length > 3 * (limit / 4500));
  assert.ok(late.wasm - early.wasm < limit, `${late.wasm - early.wasm} bytes more in wasm`);
  assert.ok(late.heap - early.heap < limit, `${late.heap - early.heap} bytes more in JavaScript`);
});
