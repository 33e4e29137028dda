// The functions of the package that need no server.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installed, load, tarball } from './package.mjs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const hm = await load();
const PAGE = `<html lang="en"><head><title>Web</title><meta property="og:title" content="The web"></head>
  <body><nav><a href="/nav">Menu</a></nav>
  <main><h1>Spiders</h1><p>Eight <strong>legs</strong>, see <a href="/legs#all">more</a>.</p>
  <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></main></body></html>`;
const url = 'https://example.com/animals/';

test('the tarball contains four wasm files and is small', () => {
  const wasm = tarball.files.filter((file) => file.path.endsWith('.wasm'));
  assert.deepEqual(wasm.map((file) => file.path), ['charsets.wasm', 'crawl.wasm', 'harvestman.wasm', 'pages.wasm']);
  // The inline entry contains them a second time.
  assert.ok(tarball.size < 3_320_000, `${tarball.size} bytes`);
  for (const file of ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE', 'index.d.ts', 'index.d.cts', 'node.cjs', 'inline.js']) {
    assert.ok(tarball.files.some((one) => one.path === file), file);
  }
});

test('a page is converted to Markdown', () => {
  const markdown = hm.htmlToMarkdown(PAGE, { url });
  assert.match(markdown, /^# Spiders/m);
  assert.match(markdown, /Eight \*\*legs\*\*, see \[more\]\(https:\/\/example\.com\/legs#all\)\./);
  assert.match(markdown, /\| a \| b \|/);
  assert.doesNotMatch(markdown, /Menu/);
  assert.match(hm.htmlToMarkdown(PAGE, { url, onlyMainContent: false }), /Menu/);
  assert.equal(hm.htmlToMarkdown(PAGE, { url, includeTags: ['strong'] }).trim(), '**legs**');
});

test('links and metadata of a page are extracted', () => {
  assert.deepEqual(hm.extractLinks(PAGE, { url }), ['https://example.com/nav', 'https://example.com/legs']);
  const metadata = hm.extractMetadata(PAGE, { url });
  assert.equal(metadata.title, 'Web');
  assert.equal(metadata.ogTitle, 'The web');
  assert.equal(metadata.language, 'en');
});

test('robots.txt is checked per user agent', () => {
  const robots = new hm.Robots('User-agent: *\nDisallow: /private\nCrawl-delay: 2\n\nUser-agent: mine\nAllow: /\n');
  const verdict = { allowed: false, rule: 'Disallow: /private', line: 2, crawlDelay: 2, sitemaps: [] };
  assert.deepEqual(robots.check('https://example.com/private/a', 'other'), verdict);
  assert.deepEqual(robots.check('https://example.com/a', 'other'), { allowed: true, crawlDelay: 2, sitemaps: [] });
  assert.equal(robots.check('https://example.com/private/a', 'mine').allowed, true);
});

test('sitemaps and sitemap indexes are parsed', () => {
  const map = '<urlset><url><loc>https://example.com/a</loc></url><url><loc>/b</loc></url></urlset>';
  const expected = { pages: ['https://example.com/a', 'https://example.com/b'], sitemaps: [] };
  assert.deepEqual(hm.parseSitemap(map, { url: 'https://example.com/sitemap.xml' }), expected);
  const bytes = new TextEncoder().encode('<sitemapindex><sitemap><loc>https://example.com/1.xml</loc></sitemap></sitemapindex>');
  assert.deepEqual(hm.parseSitemap(bytes, { url }).sitemaps, ['https://example.com/1.xml']);
  assert.throws(() => hm.parseSitemap('<html></html>', { url }), hm.ValidationError);
});

test('the scope of a crawl is checked with reasons', () => {
  const scope = new hm.Scope({ url: 'https://example.com/docs/', excludePaths: ['/old/'] });
  assert.deepEqual(scope.check('https://example.com/docs/new'), { included: true });
  for (const outside of ['https://example.com/blog', 'https://example.org/docs/new', 'https://example.com/docs/old/a']) {
    const { included, reason } = scope.check(outside);
    assert.equal(included, false, outside);
    assert.ok(reason.length > 10, outside);
  }
});

test('URLs of the same page have the same normal form', () => {
  assert.equal(hm.normalizeUrl('http://www.example.com/a/index.html#x'), hm.normalizeUrl('https://example.com/a'));
  assert.notEqual(hm.normalizeUrl('https://example.com/a?b=1'), hm.normalizeUrl('https://example.com/a'));
});

test('a signed webhook is accepted and a changed one rejected', () => {
  const body = JSON.stringify({ success: true, type: 'crawl.page', id: 'x', data: [] });
  const secret = 'kept';
  const signature = hm.signWebhook({ body, secret });
  assert.equal(signature, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  assert.equal(hm.verifyWebhook({ body, signature, secret }).type, 'crawl.page');
  assert.throws(() => hm.verifyWebhook({ body: `${body} `, signature, secret }), hm.ValidationError);
  assert.throws(() => hm.verifyWebhook({ body, signature: undefined, secret }), hm.ValidationError);
});

test('invalid input is rejected with the name of the option', () => {
  const refusal = (run) => {
    try {
      run();
    } catch (error) {
      assert.ok(error instanceof hm.ValidationError && error instanceof hm.HarvestmanError, String(error));
      assert.equal(error.status, 400);
      return error;
    }
    assert.fail('it was accepted');
  };
  assert.match(refusal(() => hm.htmlToMarkdown('<p>', { onlyMain: true })).message, /onlyMain/);
  assert.match(refusal(() => hm.htmlToMarkdown('<p>', { includeTags: ['a['] })).message, /includeTags/);
  assert.deepEqual(refusal(() => new hm.Scope({ url, limit: 0 })).details[0].path, ['limit']);
  assert.throws(() => new hm.Harvestman({ apiUrll: 'x' }), /apiUrll/);
});

test('arguments of a wrong type throw a TypeError', () => {
  const { Robots, Scope } = hm;
  const robots = new Robots('');
  const scope = new Scope({ url });
  for (const call of [
    () => hm.htmlToMarkdown(5), () => hm.htmlToMarkdown(), () => hm.htmlToMarkdown(null), () => hm.htmlToMarkdown({}), () => hm.htmlToMarkdown('x', 5),
    () => hm.htmlToMarkdown([1, 2]), () => hm.htmlToMarkdown('x', { contentType: 5 }), () => hm.cleanHtml(5), () => hm.extractLinks(5), () => hm.extractMetadata(5),
    () => hm.normalizeUrl(5), () => hm.normalizeUrl(url, 'x'), () => hm.parseSitemap(5, { url }), () => hm.parseSitemap('x', { url: 5 }), () => hm.parseSitemap('x'),
    () => new Robots(5), () => new Robots(), () => robots.check(5), () => robots.check(url, 5), () => new Scope(), () => new Scope('x'), () => scope.check(5),
    () => scope.check(url, { depth: 'x' }), () => scope.check(url, { depth: -1 }), () => hm.planSteps(5), () => hm.planSteps('x', 5), () => hm.planCrawl(5, url),
    () => hm.signWebhook(), () => hm.signWebhook({ body: 'x', secret: '' }), () => hm.signWebhook({ body: 5, secret: 'x' }), () => hm.verifyWebhook(),
    () => hm.verifyWebhook({ body: 'x', signature: 'x', secret: '' }), () => hm.verifyWebhook({ body: 'x', signature: 'x', secret: undefined }),
    () => hm.verifyWebhook({ body: 'x', signature: 5, secret: 'x' }), () => hm.verifyWebhook({ body: {}, signature: 'x', secret: 'x' }),
  ]) {
    assert.throws(call, TypeError, String(call));
  }
});

test('bytes are decoded as by a browser', () => {
  const bytes = Buffer.from('<main><h1>Caf\xe9</h1></main>', 'latin1');
  assert.match(hm.htmlToMarkdown(bytes, { contentType: 'text/html; charset=iso-8859-1' }), /^# Café/);
  const utf8 = new TextEncoder().encode(`xx${PAGE}`);
  const view = utf8.subarray(2);
  assert.equal(hm.htmlToMarkdown(view, { url }), hm.htmlToMarkdown(PAGE, { url }));
  assert.equal(hm.htmlToMarkdown(view.slice().buffer, { url }), hm.htmlToMarkdown(PAGE, { url }));
  assert.deepEqual(hm.extractLinks(view, { url }), hm.extractLinks(PAGE, { url }));
});

test('objects can be freed twice, and are freed when they are left alone', async () => {
  const robots = new hm.Robots('User-agent: *\nDisallow: /x\n');
  robots.free();
  robots.free();
  robots[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
  assert.throws(() => robots.check(url), TypeError);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const text = `User-agent: *\n${'Disallow: /private/area\n'.repeat(4000)}`;
  const round = async () => {
    for (let count = 0; count < 200; count++) new hm.Robots(text);
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  for (let count = 0; count < 3; count++) await round();
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().external;
  for (let count = 0; count < 10; count++) await round();
  const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().external - before;
  assert.ok(grown < 30_000_000, `${grown} bytes more after 200 MB of rules`);
});

test('prompts become steps and crawl options', () => {
  const snapshot = '- textbox "Email" [ref=e2]\n- button "Sign in" [ref=e4]';
  const steps = hm.planSteps('type me@example.com into Email, click Sign in', snapshot);
  assert.deepEqual(steps.map(({ action, element }) => [action, element.ref]), [['fill', 'e2'], ['click', 'e4']]);
  assert.ok(steps.every(({ description }) => description.length > 5));
  assert.throws(() => hm.planSteps('ponder the universe'), (error) => error instanceof hm.ValidationError && error.details[0] === 'ponder the universe');
  const options = hm.planCrawl('only /blog, at most 50 pages', url);
  assert.equal(options.limit, 50);
  assert.match(String(options.includePaths), /blog/);
  assert.match(hm.planCrawl('hello', url).warning, /./);
});

test('memory does not grow over ten thousand pages', async () => {
  const { initPages, ...slim } = await load('./slim');
  await initPages(readFileSync(join(installed, 'pages.wasm')));
  for (let round = 0; round < 500; round++) slim.htmlToMarkdown(PAGE, { url });
  const before = process.memoryUsage();
  const bytes = new TextEncoder().encode(PAGE);
  for (let round = 0; round < 10_000; round++) slim.htmlToMarkdown(round % 2 ? PAGE : bytes, { url });
  const after = process.memoryUsage();
  const grown = after.arrayBuffers + after.external - before.arrayBuffers - before.external;
  assert.ok(grown < 2_000_000, `${grown} bytes more`);
});

test('memory does not grow over ten thousand disposed objects', async () => {
  const { initSync, Robots } = await load('./slim');
  initSync(readFileSync(join(installed, 'harvestman.wasm')));
  const text = `User-agent: *\n${'Disallow: /private/area\n'.repeat(100)}`;
  const round = (count) => {
    for (let made = 0; made < count; made++) {
      const robots = new Robots(text);
      robots.check(url);
      robots[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
    }
  };
  round(500);
  const before = process.memoryUsage();
  round(10_000);
  const after = process.memoryUsage();
  const grown = after.arrayBuffers + after.external - before.arrayBuffers - before.external;
  assert.ok(grown < 2_000_000, `${grown} bytes more`);
});
