// How the client sends requests: keys, headers, retries, time limits, errors. The server is a stub.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { installed, load } from './package.mjs';
import { listen } from './server.mjs';

const hm = await load();
const { Harvestman } = hm;
let server, apiUrl, requests, respond;

before(async () => {
  server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      requests.push({ method: request.method, url: request.url, headers: request.headers, body, at: Date.now() });
      const [status, text, headers = {}] = respond(request, requests.length, body);
      response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers });
      response.end(typeof text === 'string' ? text : JSON.stringify(text));
    });
  });
  // Longer than any pause between two requests of the tests.
  server.keepAliveTimeout = 120_000;
  apiUrl = `http://127.0.0.1:${await listen(server)}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
});

const client = (settings) => new Harvestman({ apiUrl, apiKey: 'fc-x', ...settings });
const rejection = (promise) => promise.then(() => assert.fail('it was accepted'), (error) => error);
const active = { success: true, crawls: [] };

test('a key or header that cannot be sent is refused without being shown', () => {
  for (const apiKey of ['fc-\nx', 'fc-\u{1f577}', 'fc-\0']) {
    assert.throws(() => new Harvestman({ apiUrl, apiKey }), (error) => error instanceof hm.ValidationError && /apiKey/.test(error.message) && !error.message.includes(apiKey));
    assert.throws(() => new Harvestman(apiKey), hm.ValidationError);
  }
  assert.throws(() => client({ headers: { 'x-a': 'b\nc' } }), hm.ValidationError);
  assert.throws(() => client({ headers: { 'x a': 'b' } }), hm.ValidationError);
});

test('settings of a wrong type or value are refused', () => {
  for (const settings of [{ maxRetries: NaN }, { maxRetries: -1 }, { maxRetries: 1.5 }, { maxRetries: '2' }, { timeoutMs: NaN }, { timeoutMs: '5' }, { apiKey: 5 }, { apiUrl: 5 }, { fetch: 'x' }, { backoffFactor: -1 }]) {
    assert.throws(() => client(settings), TypeError, JSON.stringify(settings));
  }
  assert.throws(() => new Harvestman(5), TypeError);
  assert.throws(() => new Harvestman([]), TypeError);
  assert.throws(() => client({ apiUrl: 'nowhere' }), hm.ValidationError);
  assert.throws(() => client({ apiUrl: 'ftp://a.test' }), hm.ValidationError);
  assert.throws(() => client({ apiUrll: 'x' }), /apiUrll/);
});

test('arguments of a wrong type throw a TypeError', async () => {
  const hm = client();
  for (const call of [
    () => hm.scrape(5), () => hm.scrape(), () => hm.scrape('https://a.test/', 5), () => hm.scrape('https://a.test/', []), () => hm.getScrape(5),
    () => hm.crawl({}), () => hm.getCrawlStatus(5), () => hm.getCrawlStatus(), () => hm.cancelCrawl(null), () => hm.batchScrape('https://a.test/'),
    () => hm.batchScrape([5]), () => hm.interact(5, { code: 'x' }), () => hm.deleteBrowser(), () => hm.crawl('https://a.test/', { pollInterval: 'x' }),
    () => hm.startCrawl('https://a.test/', { idempotencyKey: 5 }), () => hm.extract('x'), () => hm.parse('text'), () => hm.map(5),
  ]) {
    await assert.rejects(call, TypeError, String(call));
  }
  assert.deepEqual(requests, []);
});

test('own headers and an own fetch are used', async () => {
  respond = () => [200, active];
  const urls = [];
  const hm = client({ headers: { 'x-tenant': 'a' }, fetch: (url, init) => (urls.push(url), fetch(url, init)) });
  assert.deepEqual(await hm.getActiveCrawls(), active);
  assert.deepEqual(urls, [`${apiUrl}/v2/crawl/active`]);
  const [{ headers }] = requests;
  assert.deepEqual([headers['x-tenant'], headers.authorization], ['a', 'Bearer fc-x']);
});

test('Retry-After is a number of seconds or a date', async () => {
  for (const header of [() => '1', () => new Date(Date.now() + 2000).toUTCString()]) {
    requests = [];
    const value = header();
    respond = (_, count) => (count === 1 ? [429, { success: false, error: 'slow down', code: 'RATE_LIMITED' }, { 'retry-after': value }] : [200, active]);
    await client().getActiveCrawls();
    const pause = requests[1].at - requests[0].at;
    assert.ok(pause >= 500 && pause < 3000, `${value}: ${pause} ms`);
  }
});

test('a Retry-After longer than the timeout is not waited for', async () => {
  respond = () => [429, { success: false, error: 'slow down', code: 'RATE_LIMITED' }, { 'retry-after': '3600' }];
  const begun = Date.now();
  const error = await rejection(client({ timeoutMs: 1000 }).getActiveCrawls());
  assert.ok(error instanceof hm.RateLimitError && Date.now() - begun < 1000, String(error));
  assert.deepEqual([error.retryAfterMs, error.requestId, error.name, requests.length], [3_600_000, 'r-1', 'RateLimitError', 1]);
});

test('only safe calls are retried; starting a job is safe by its key', async () => {
  respond = (_, count) => (count < 3 ? [503, { success: false, error: 'busy', code: 'X' }] : [200, { success: true, id: 'j', url: 'u', crawls: [] }]);
  const hm = client({ backoffFactor: 0.01 });
  await hm.getActiveCrawls();
  assert.equal(requests.length, 3);
  requests = [];
  await hm.startCrawl('https://a.test/');
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map(({ headers }) => headers['x-idempotency-key'])).size, 1);
  assert.match(requests[0].headers['x-idempotency-key'], /^[0-9a-f]{32}$/);
  requests = [];
  assert.equal((await rejection(hm.scrape('https://a.test/'))).status, 503);
  assert.equal(requests.length, 1);
});

test('timeoutMs limits each response, also of pages()', { timeout: 10_000 }, async () => {
  const silent = createServer(() => {});
  const url = `http://127.0.0.1:${await listen(silent)}`;
  const hm2 = new Harvestman({ apiUrl: url, apiKey: 'fc-x', timeoutMs: 300, maxRetries: 0 });
  try {
    const begun = Date.now();
    const error = await rejection(hm2.job('j').pages().next());
    assert.ok(error instanceof hm.NetworkError && error.code === 'TIMEOUT', String(error));
    assert.equal(error.jobId, 'j');
    assert.ok(Date.now() - begun < 3000);
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

test('a job without news is polled at most twice a second', async () => {
  const running = { success: true, status: 'scraping', total: 2, completed: 0, creditsUsed: 0, next: 'x', data: [] };
  respond = (_, count) => [200, count < 4 ? running : { ...running, status: 'completed', next: null, data: [{ metadata: {} }] }];
  const times = [];
  const hm = client({ fetch: (...request) => (times.push(Date.now()), fetch(...request)) });
  const result = await hm.job('j').wait({ pollMs: 1 });
  assert.equal(result.data.length, 1);
  const pauses = times.slice(1).map((at, index) => at - times[index]);
  // Not the 1 ms of the option. A busy machine's clock may be adjusted in between.
  assert.ok(pauses.length === 3 && pauses.every((pause) => pause >= 400), String(pauses));
});

test('fields of newer servers are kept, and errors have all their fields', async () => {
  respond = () => [200, { success: true, data: { markdown: 'x', novelty: { a: 1 }, metadata: { later: true } } }];
  const page = await client().scrape('https://a.test/');
  assert.deepEqual([page.novelty, page.metadata.later], [{ a: 1 }, true]);
  respond = () => [402, { success: false, error: 'no credits', code: 'INSUFFICIENT_CREDITS', details: { left: 0 } }];
  const error = await rejection(client().scrape('https://a.test/'));
  assert.ok(error instanceof hm.PaymentRequiredError && error instanceof hm.HarvestmanError && error instanceof Error);
  assert.deepEqual({ ...error }, { status: 402, code: 'INSUFFICIENT_CREDITS', details: { left: 0 }, requestId: 'r-1' });
  assert.deepEqual([error.name, error.message], ['PaymentRequiredError', 'no credits']);
  respond = () => [502, '<html>Bad gateway</html>'];
  const proxy = await rejection(client({ maxRetries: 0 }).getActiveCrawls());
  assert.ok(proxy instanceof hm.NetworkError && !(proxy instanceof hm.AuthError));
  assert.deepEqual([proxy.status, proxy.code], [502, 'UNREADABLE_RESPONSE']);
});

test('an abort while a crawl is being started cancels it', async () => {
  const stop = new AbortController();
  respond = ({ method }) => {
    if (method === 'POST') stop.abort();
    return [200, { success: true, id: 'late', url: 'u', status: 'cancelled' }];
  };
  await assert.rejects(client().crawl('https://a.test/', { signal: stop.signal }), { name: 'AbortError' });
  for (let tries = 0; !requests.some(({ method }) => method === 'DELETE'); tries++) {
    assert.ok(tries < 50, 'the job was not cancelled');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(requests.at(-1).url, '/v2/crawl/late');
});

test('an id cannot leave its path', async () => {
  respond = () => [200, { success: true, data: {} }];
  await client().getScrape('../team/activity?x=');
  assert.equal(requests[0].url, '/v2/scrape/..%2Fteam%2Factivity%3Fx%3D');
});

test('schemas of libraries are sent as JSON Schema', async () => {
  respond = () => [200, { success: true, data: {} }];
  const { createRequire } = await import('node:module');
  const require = createRequire(join(process.env.HARVESTMAN_TEST_JAVASCRIPT, 'package.json'));
  const { z } = require('zod');
  const v = require('valibot');
  const expected = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      price: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
      kind: { enum: ['a', 'b'] },
      note: { type: 'string' },
    },
    required: ['name', 'price', 'tags', 'kind'],
  };
  const schemas = {
    zod: z.object({ name: z.string(), price: z.number(), tags: z.array(z.string()), kind: z.enum(['a', 'b']), note: z.string().optional() }),
    valibot: v.object({ name: v.string(), price: v.number(), tags: v.array(v.string()), kind: v.picklist(['a', 'b']), note: v.optional(v.string()) }),
    json: expected,
  };
  for (const [name, schema] of Object.entries(schemas)) {
    requests = [];
    await client().scrape('https://a.test/', { formats: ['markdown', { type: 'json', schema }] });
    const { $schema, additionalProperties, ...sent } = JSON.parse(requests[0].body).formats[1].schema;
    for (const property of Object.values(sent.properties)) if (property.enum) delete property.type;
    assert.deepEqual(sent, expected, name);
  }
  await assert.rejects(client().scrape('https://a.test/', { formats: [{ type: 'json', schema: { '~standard': { version: 1, vendor: 'other' } } }] }), TypeError);
});

test('a bad key in a request ends no process', () => {
  const script = `import { Harvestman } from ${JSON.stringify(pathToFileURL(join(installed, 'node.js')).href)};
    const hm = new Harvestman({ apiUrl: 'http://127.0.0.1:1', apiKey: 'x', maxRetries: 0, fetch: () => { throw new Error('no network') } });
    await hm.scrape('https://a.test/').catch((error) => console.log(error.name, error.message));
    try { new Harvestman({ apiKey: 'a\\nb' }) } catch (error) { console.log(error.name) }`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.equal(output, 'NetworkError The server did not respond: no network\nValidationError\n');
});
