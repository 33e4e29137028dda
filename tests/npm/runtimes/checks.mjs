// What the package must do in every JavaScript runtime. Uses nothing but the language and the web's own APIs.

const PAGE = `<html lang="en"><head><title>Web</title></head><body><nav><a href="/nav">Menu</a></nav>
  <main><h1>Spiders</h1><p>Eight <strong>legs</strong>, see <a href="/legs#all">more</a>.</p></main></body></html>`;
const SITE = {
  '/robots.txt': ['User-agent: *\nDisallow: /private\n', 'text/plain'],
  '/': ['<title>Start</title><main><p>Start</p><a href="/a">a</a><a href="/b">b</a><a href="/private">no</a></main>', 'text/html'],
  '/a': ['<title>A</title><main><p>Caf\u00e9</p></main>', 'text/html; charset=windows-1252'],
  // "ni hao" in GBK, for which the crawl loads the tables of charsets.
  '/b': ['<title>B</title><main><p>\xc4\xe3\xba\xc3</p></main>', 'text/html; charset=gbk'],
};

function equal(actual, expected, what) {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${what}: ${left} instead of ${right}`);
}

async function thrown(run, what) {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error(`${what}: nothing was thrown`);
}

/** A `fetch` that answers for a small site, in the charset of each. */
async function siteFetch(url) {
  const found = SITE[new URL(url).pathname];
  if (!found) return new Response('no such page', { status: 404 });
  const [text, type] = found;
  return new Response(Uint8Array.from(text, (letter) => letter.charCodeAt(0)), { headers: { 'content-type': type } });
}

/** A `fetch` that records requests and answers as the API does. */
function apiFetch(requests) {
  return async (url, { method, body, headers }) => {
    requests.push([method, new URL(url).pathname, body && JSON.parse(body)]);
    if (new Headers(headers).get('authorization') === 'Bearer wrong') {
      return Response.json({ success: false, error: 'Unauthorized', code: 'UNAUTHORIZED' }, { status: 401 });
    }
    return Response.json({ success: true, data: { markdown: 'x', later: 1 } });
  };
}

async function checkClient(hm) {
  const requests = [];
  const settings = { apiUrl: 'http://localhost:3002', apiKey: 'fc-x', fetch: apiFetch(requests) };
  const client = new hm.Harvestman(settings);
  equal(await client.scrape('https://a.test/', { formats: ['markdown'] }), { markdown: 'x', later: 1 }, 'a document, with unknown fields');
  equal(requests, [['POST', '/v2/scrape', { formats: ['markdown'], url: 'https://a.test/' }]], 'the request');
  const refused = await thrown(() => client.scrape('https://a.test/', { formatss: [] }), 'an unknown option');
  equal([refused.name, refused instanceof hm.ValidationError, requests.length], ['ValidationError', true, 1], 'an unknown option');
  const denied = await thrown(() => new hm.Harvestman({ ...settings, apiKey: 'wrong' }).scrape('https://a.test/'), 'a wrong key');
  equal([denied.name, denied.status, denied instanceof hm.HarvestmanError], ['AuthError', 401, true], 'a wrong key');
  const abort = new AbortController();
  abort.abort();
  equal((await thrown(() => client.scrape('https://a.test/', {}, { signal: abort.signal }), 'an abort')).name, 'AbortError', 'an abort');
}

async function checkCrawl(hm) {
  const crawler = new hm.LocalCrawler({ url: 'https://site.test/', fetch: siteFetch });
  const found = [];
  for await (const page of crawler.run()) found.push([new URL(page.metadata.sourceURL).pathname, page.markdown.trim().split('\n')[0]]);
  equal(found.map(([path]) => path), ['/', '/a', '/b'], 'the pages of a crawl');
  equal(found[1][1], 'Caf\u00e9', 'a page in windows-1252');
  equal(found[2][1], '\u4f60\u597d', 'a page in GBK');
  equal(crawler.counts.robotsBlocked, 1, 'pages blocked by robots.txt');
}

async function checkTools(hm) {
  const url = 'https://example.com/animals/';
  const markdown = hm.htmlToMarkdown(PAGE, { url });
  equal([markdown.includes('# Spiders'), markdown.includes('[more](https://example.com/legs#all)'), markdown.includes('Menu')], [true, true, false], 'Markdown');
  equal(hm.htmlToMarkdown(new TextEncoder().encode('<p>\u00e9'), { onlyMainContent: false }).trim(), '\u00e9', 'Markdown of bytes');
  equal(hm.htmlToMarkdown(Uint8Array.of(0x3c, 0x70, 0x3e, 0xc4, 0xe3, 0xba, 0xc3), { contentType: 'text/html; charset=gbk', onlyMainContent: false }).trim(), '\u4f60\u597d', 'Markdown of GBK');
  equal(hm.extractLinks(PAGE, { url }), ['https://example.com/nav', 'https://example.com/legs'], 'links');
  equal(hm.extractMetadata(PAGE).title, 'Web', 'metadata');
  equal(hm.normalizeUrl('http://www.example.com/a/#x'), hm.normalizeUrl('https://example.com/a'), 'URLs');
  equal(hm.parseSitemap('<urlset><url><loc>https://a.test/b</loc></url></urlset>', { url: 'https://a.test/s.xml' }).pages, ['https://a.test/b'], 'a sitemap');
  const robots = new hm.Robots('User-agent: *\nDisallow: /private\n');
  equal(robots.check('https://a.test/private/x').allowed, false, 'robots.txt');
  robots.free();
  robots.free();
  equal((await thrown(() => robots.check('https://a.test/'), 'use after free')).name, 'TypeError', 'use after free');
  equal(new hm.Scope({ url: 'https://a.test/docs/' }).check('https://a.test/blog').included, false, 'the scope of a crawl');
  equal(hm.planCrawl('at most 50 pages', 'https://a.test').limit, 50, 'a crawl in words');
  equal(hm.planSteps('click Sign in')[0].action, 'click', 'steps in words');
  const webhook = { body: '{"type":"crawl.page"}', secret: 'secret' };
  equal(hm.verifyWebhook({ ...webhook, signature: hm.signWebhook(webhook) }).type, 'crawl.page', 'a webhook');
  equal((await thrown(() => hm.verifyWebhook({ ...webhook, signature: 'sha256=00' }), 'a wrong signature')).code, 'BAD_SIGNATURE', 'a wrong signature');
  equal((await thrown(() => hm.htmlToMarkdown(5), 'a number')).name, 'TypeError', 'a wrong type');
}

/** Checks the package; throws at the first deviation. Returns what runners wait for. */
export async function check(hm) {
  equal(hm.default === undefined || hm.default === hm.Harvestman, true, 'the default export');
  await checkClient(hm);
  await checkCrawl(hm);
  await hm.ready?.({ charsets: true });
  await checkTools(hm);
  return 'every check passed';
}
