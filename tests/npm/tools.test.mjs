// The functions of the package that need no server.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installed, load, tarball } from './package.mjs';

const hm = await load();
const PAGE = `<html lang="en"><head><title>Web</title><meta property="og:title" content="The web"></head>
  <body><nav><a href="/nav">Menu</a></nav>
  <main><h1>Spiders</h1><p>Eight <strong>legs</strong>, see <a href="/legs#all">more</a>.</p>
  <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></main></body></html>`;
const url = 'https://example.com/animals/';

test('the tarball contains one wasm file and is small', () => {
  const wasm = tarball.files.filter((file) => file.path.endsWith('.wasm'));
  assert.deepEqual(wasm.map((file) => file.path), ['harvestman.wasm']);
  assert.ok(tarball.size < 2_000_000, `${tarball.size} bytes`);
  for (const file of ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE', 'index.d.ts']) {
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

test('memory does not grow over ten thousand pages', async () => {
  const { init, ...slim } = await load('./slim');
  await init(readFileSync(join(installed, 'harvestman.wasm')));
  for (let round = 0; round < 500; round++) slim.htmlToMarkdown(PAGE, { url });
  const before = process.memoryUsage();
  for (let round = 0; round < 10_000; round++) slim.htmlToMarkdown(PAGE, { url });
  const after = process.memoryUsage();
  const grown = after.arrayBuffers + after.external - before.arrayBuffers - before.external;
  assert.ok(grown < 2_000_000, `${grown} bytes more`);
});
