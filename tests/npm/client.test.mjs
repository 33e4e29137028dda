// The client of the package with a running server and a local site.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { load, setting } from './package.mjs';

const { Harvestman, ...hm } = await load();
const PAGES = 24;
const key = `fc-${randomBytes(32).toString('hex')}`;
const data = mkdtempSync(join(tmpdir(), 'harvestman-data-'));
let site, root, server, client;

const listen = (http) => new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(http.address().port)));

before(async () => {
  site = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://site');
    const number = Number(/^\/page\/(\d+)$/.exec(pathname)?.[1] ?? (pathname === '/' ? 0 : NaN));
    if (pathname === '/slow/') return void setTimeout(() => response.end('<p>late</p>'), 20_000).unref();
    if (!(number <= PAGES)) return void response.writeHead(404).end('<h1>none</h1>');
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const links = [2 * number + 1, 2 * number + 2].filter((next) => next < PAGES);
    const list = links.map((next) => `<li><a href="/page/${next}">Page ${next}</a></li>`).join('');
    response.end(`<title>Page ${number}</title><main><h1>Page ${number}</h1><p>Text of page ${number}.</p><ul>${list}</ul></main>`);
  });
  root = `http://127.0.0.1:${await listen(site)}`;
  server = spawn(setting('HARVESTMAN_TEST_SERVER'), ['serve'], {
    env: {
      PATH: process.env.PATH,
      HARVESTMAN_LISTEN: '127.0.0.1:0',
      HARVESTMAN_DATA_DIR: data,
      HARVESTMAN_API_KEYS: `${key}=testers`,
      HARVESTMAN_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const apiUrl = await new Promise((resolve, reject) => {
    let text = '';
    server.once('exit', (code) => reject(new Error(`the server ended (${code}): ${text}`)));
    server.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /listening on (http:\/\/\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
  });
  client = new Harvestman({ apiUrl, apiKey: key });
});

after(async () => {
  const ended = new Promise((resolve) => server?.once('exit', resolve));
  server?.kill('SIGTERM');
  await ended;
  site?.closeAllConnections();
  site?.close();
  rmSync(data, { recursive: true, force: true });
});

test('a page is scraped, and can be read again by its id', async () => {
  const page = await client.scrape(`${root}/page/1`, { formats: ['markdown', 'links'] });
  assert.match(page.markdown, /^# Page 1$/m);
  assert.deepEqual(page.links, [`${root}/page/3`, `${root}/page/4`]);
  assert.equal(page.metadata.statusCode, 200);
  const again = await client.getScrape(page.metadata.scrapeId);
  assert.equal(again.markdown, page.markdown);
});

test('pages() yields every page of a running crawl once', async () => {
  const job = await client.startCrawl(`${root}/`, { limit: 100, sitemap: 'skip' });
  const seen = [];
  const progress = [];
  for await (const page of job.pages({ onProgress: (now) => progress.push(now) })) seen.push(page.metadata.sourceURL);
  assert.equal(seen.length, PAGES);
  assert.equal(new Set(seen).size, PAGES);
  assert.equal(progress.at(-1).completed, PAGES);
  const status = await job.status({ limit: 5 });
  assert.equal(status.status, 'completed');
  assert.equal(status.data.length, 5);
  assert.ok(status.next);
  assert.deepEqual(await job.errors(), { success: true, errors: [], robotsBlocked: [] });
});

test('crawl() waits for the end and returns all pages', async () => {
  const result = await client.crawl(`${root}/`, { limit: 10, sitemap: 'skip', scrapeOptions: { formats: ['markdown'] } });
  assert.equal(result.status, 'completed');
  assert.equal(result.data.length, 10);
  assert.ok(result.data.every((page) => /^# Page \d+$/m.test(page.markdown)));
});

test('a map lists the URLs of a site', async () => {
  const { links } = await client.map(`${root}/`, { sitemap: 'skip', search: 'page 2', limit: 2 });
  assert.equal(links.length, 2);
  assert.equal(links[0].url, `${root}/page/2`);
});

test('a running crawl is listed as active and can be cancelled', async () => {
  const job = await client.startCrawl(`${root}/`, { sitemap: 'skip', delay: 5 });
  const active = await client.getActiveCrawls();
  assert.ok(active.some((crawl) => crawl.id === job.id && crawl.options.delay === 5));
  assert.equal((await job.cancel()).status, 'cancelled');
  const result = await job.wait({ timeoutMs: 20_000 });
  assert.equal(result.status, 'cancelled');
  assert.ok(!(await client.getActiveCrawls()).some((crawl) => crawl.id === job.id));
});

test('a batch returns its pages, reports invalid URLs, and accepts more pages', async () => {
  const pages = [1, 2, 3].map((number) => `${root}/page/${number}`);
  const job = await client.startBatchScrape([...pages, 'ftp://nowhere'], { formats: ['markdown'] });
  assert.deepEqual(job.invalidURLs, ['ftp://nowhere']);
  const first = await job.wait();
  assert.deepEqual([first.status, first.total, first.data.length], ['completed', 3, 3]);
  const more = await client.startBatchScrape([`${root}/page/4`, pages[0]], { appendToId: job.id });
  assert.equal(more.id, job.id);
  const all = await more.wait();
  assert.deepEqual([all.total, new Set(all.data.map((page) => page.metadata.sourceURL)).size], [4, 4]);
  assert.deepEqual(await job.errors(), { success: true, errors: [], robotsBlocked: [] });
  const result = await client.batchScrape(pages.slice(0, 2), { timeoutMs: 60_000 });
  assert.equal(result.data.length, 2);
});

test('a wait can have a timeout', async () => {
  const job = await client.startCrawl(`${root}/`, { sitemap: 'skip', delay: 30 });
  const error = await job.wait({ timeoutMs: 1500 }).catch((error) => error);
  assert.ok(error instanceof hm.JobTimeoutError, String(error));
  assert.equal(error.jobId, job.id);
  await job.cancel();
});

test('an AbortSignal rejects a call with its reason', async () => {
  const reason = new Error('enough');
  const stop = new AbortController();
  setTimeout(() => stop.abort(reason), 200);
  await assert.rejects(client.scrape(`${root}/slow/`, {}, { signal: stop.signal }), (error) => error === reason);
});

test('each kind of error has its class', async () => {
  const { apiUrl } = client;
  const rejection = (promise) => promise.then(() => assert.fail('it was accepted'), (error) => error);

  const input = await rejection(client.scrape(root, { formatss: ['markdown'] }));
  assert.ok(input instanceof hm.ValidationError, String(input));
  assert.match(input.message, /formatss/);

  const key = await rejection(new Harvestman({ apiUrl, apiKey: 'fc-wrong' }).getActiveCrawls());
  assert.ok(key instanceof hm.AuthError && key.status === 401 && key.code === 'UNAUTHORIZED', String(key));

  const unknown = await rejection(client.getCrawlStatus('00000000-0000-7000-8000-000000000000'));
  assert.deepEqual([unknown.status, unknown.code], [404, 'NOT_FOUND']);
  assert.ok(!(unknown instanceof hm.ValidationError));

  assert.ok((await rejection(client.getCrawlStatus('nonsense'))) instanceof hm.ValidationError);

  const dead = new Harvestman({ apiUrl: 'http://127.0.0.1:1', apiKey: 'fc-x', maxRetries: 0 });
  assert.ok((await rejection(dead.getActiveCrawls())) instanceof hm.NetworkError);
});
