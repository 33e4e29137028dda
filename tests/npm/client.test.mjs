// The client of the package with a running server and a local site.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { load } from './package.mjs';
import { listen, startServer } from './server.mjs';

const { Harvestman, ...hm } = await load();
const PAGES = 24;
let site, root, server, client;

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
  server = await startServer();
  client = new Harvestman({ apiUrl: server.apiUrl, apiKey: server.key });
});

after(async () => {
  await server?.stop();
  site?.closeAllConnections();
  site?.close();
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
  const { crawls } = await client.getActiveCrawls();
  assert.ok(crawls.some((crawl) => crawl.id === job.id && crawl.options.delay === 5));
  assert.equal(await job.cancel(), true);
  const result = await job.wait({ timeoutMs: 20_000 });
  assert.equal(result.status, 'cancelled');
  assert.ok(!(await client.getActiveCrawls()).crawls.some((crawl) => crawl.id === job.id));
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

  assert.match(unknown.requestId, /^[\w-]+$/);
  assert.equal(unknown.name, 'HarvestmanError');

  assert.ok((await rejection(client.getCrawlStatus('../team/credit-usage'))) instanceof hm.HarvestmanError);

  const dead = new Harvestman({ apiUrl: 'http://127.0.0.1:1', apiKey: 'fc-x', maxRetries: 0 });
  assert.ok((await rejection(dead.getActiveCrawls())) instanceof hm.NetworkError);
});

test('an aborted crawl is cancelled on the server', async () => {
  const stop = new AbortController();
  const known = new Set((await client.getActiveCrawls()).crawls.map((crawl) => crawl.id));
  const crawling = client.crawl(`${root}/`, { sitemap: 'skip', delay: 10, signal: stop.signal, onProgress: () => stop.abort() });
  await assert.rejects(crawling, { name: 'AbortError' });
  for (let tries = 0; ; tries++) {
    const { crawls } = await client.getActiveCrawls();
    if (crawls.every((crawl) => known.has(crawl.id))) break;
    assert.ok(tries < 50, 'the crawl still runs');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test('the status of a crawl has all documents, or a chunk of them', async () => {
  const { id } = await client.crawl(`${root}/`, { limit: 12, sitemap: 'skip' });
  assert.equal((await client.getCrawlStatus(id)).data.length, 12);
  assert.equal((await client.getCrawlStatus(id, { maxResults: 7 })).data.length, 7);
  assert.equal((await client.getCrawlStatus(id, { skip: 10 })).data.length, 2);
  assert.equal((await client.getCrawlStatus(id, { autoPaginate: false, limit: 4 })).data.length, 4);
});

test('files are parsed from a File, a Blob with a name, bytes and streams', async () => {
  const text = '<title>File</title><main><h1>From a file</h1><p>Its only paragraph.</p></main>';
  const name = 'page.html';
  const type = 'text/html';
  async function* chunks() {
    for (const part of text.match(/.{1,9}/g)) yield new TextEncoder().encode(part);
  }
  for (const file of [
    new File([text], name, { type }),
    { data: new Blob([text], { type }), filename: name },
    { data: new TextEncoder().encode(text), filename: name, contentType: type },
    { data: text, filename: name, contentType: type },
    { data: new Blob([text]).stream(), filename: name, contentType: type },
    { data: chunks(), filename: name, contentType: type },
  ]) {
    const document = await client.parse(file, { formats: ['markdown'] });
    assert.match(document.markdown, /^# From a file/m);
  }
  await assert.rejects(client.parse({ data: text }), TypeError);
  await assert.rejects(client.parse({ data: 5, filename: name }), TypeError);
  await assert.rejects(client.parse(new File([text], name), { formatss: [] }), hm.ValidationError);
});

test('data is extracted by a JSON Schema, and by schemas of libraries', async () => {
  const schema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] };
  const result = await client.extract({ urls: [`${root}/page/3`], schema, timeoutMs: 60_000 });
  assert.deepEqual([result.status, result.data.title], ['completed', 'Page 3']);
  const job = await client.startExtract({ urls: [`${root}/page/3`], schema });
  assert.match(job.id, /^[0-9a-f-]{36}$/);
  assert.equal((await job.wait({ timeoutMs: 60_000 })).status, 'completed');
  assert.equal((await client.getExtractStatus(job.id)).status, 'completed');
  // What Zod 4.2 and others offer.
  const standard = { '~standard': { version: 1, vendor: 'test', jsonSchema: { input: ({ target }) => (assert.equal(target, 'draft-2020-12'), schema) } } };
  const page = await client.scrape(`${root}/page/2`, { formats: [{ type: 'json', schema: standard }] });
  assert.deepEqual(page.json, { title: 'Page 2' });
});

test('searches, previews, usage, activity and sessions are calls of the client', async () => {
  await client.scrape(`${root}/page/5`);
  const found = await client.search('text page', { limit: 3 });
  assert.ok(Array.isArray(found.web), JSON.stringify(found));
  const preview = await client.crawlParamsPreview(`${root}/`, 'at most 7 pages');
  assert.equal(preview.limit, 7);
  const usage = await client.getCreditUsage();
  assert.equal(typeof usage.remainingCredits, 'number');
  assert.equal(typeof (await client.getTokenUsage()).remainingTokens, 'number');
  assert.ok((await client.getCreditUsageHistorical()).periods.length > 0);
  assert.ok((await client.getCreditUsageHistorical(true)).periods.every((period) => 'apiKey' in period));
  assert.ok(Array.isArray((await client.getTokenUsageHistorical({ byApiKey: true })).periods));
  assert.ok((await client.getConcurrency()).maxConcurrency > 0);
  assert.equal((await client.getQueueStatus()).success, true);
  const entries = [];
  for await (const entry of client.activity({ limit: 2, endpoint: 'scrape' })) entries.push(entry);
  assert.ok(entries.length > 2 && entries.every((entry) => entry.endpoint === 'scrape'));
  assert.equal(new Set(entries.map((entry) => entry.id)).size, entries.length);
  assert.deepEqual((await client.listBrowsers({ status: 'active' })).sessions, []);
  assert.ok((await client.docsSearch('How do I start a crawl?')).success);
  assert.ok((await client.parseFormats()).success);
});

test('calls that this server cannot serve throw its error', async () => {
  const refused = async (call) => {
    const error = await call.then(() => assert.fail('it was accepted'), (error) => error);
    assert.ok(error instanceof hm.HarvestmanError && error.status >= 400 && error.code, String(error));
  };
  // Without a model and a browser.
  await refused(client.startAgent({ prompt: 'find the price' }).then((job) => job.cancel().then(() => Promise.reject(new hm.ValidationError({ status: 400, code: 'X', message: 'x' })))));
  await refused(client.interact('018f0000-0000-7000-8000-000000000000', { prompt: 'click x' }));
  await refused(client.browserExecute('018f0000-0000-7000-8000-000000000000', { code: 'x' }));
  await refused(client.deleteBrowser('018f0000-0000-7000-8000-000000000000'));
  await refused(client.getAgentStatus('018f0000-0000-7000-8000-000000000000'));
  {
    const session = client.interaction('018f0000-0000-7000-8000-000000000000');
    await refused(session.run('1'));
    await refused(session.prompt('click x'));
    // It ends what may have been opened, and accepts that nothing was.
    await session[Symbol.asyncDispose]();
  }
});

test('code that was written for firecrawl-js works', async () => {
  const app = new hm.Firecrawl({ apiUrl: server.apiUrl, apiKey: server.key });
  const urls = [`${root}/page/1`, `${root}/page/2`];
  const batch = await app.batchScrape(urls, { options: { formats: ['markdown'], timeout: 30_000 }, pollInterval: 1, timeout: 60 });
  assert.equal(batch.data.length, 2);
  assert.equal((await app.scrapeUrl(urls[0])).metadata.title, 'Page 1');
  const { id } = await app.startCrawl(`${root}/`, { limit: 4, sitemap: 'skip' });
  const watcher = app.watcher(id, { kind: 'crawl', pollInterval: 1, timeout: 60 });
  const seen = [];
  let last;
  watcher.on('document', (page) => seen.push(page)).once('done', (done) => (last = done));
  await watcher.start();
  assert.deepEqual([seen.length, last.status, last.data.length], [4, 'completed', 4]);
  assert.equal(await app.cancelCrawl(id).catch((error) => error instanceof hm.SdkError), true);
});
