// The types of the package, checked by the TypeScript compiler, and its files, checked by publint.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { installed, project, setting, tarball } from './package.mjs';

const require = createRequire(join(setting('HARVESTMAN_TEST_JAVASCRIPT'), 'package.json'));
const ts = require('typescript');

const USE = `
import Harvestman, { AuthError, type Document, type JobResult, Harvestman as Same, htmlToMarkdown, LocalCrawler, planSteps, ready, Robots, Scope } from 'harvestman';
import { init, initCharsets, initCrawlSync, initPages } from 'harvestman/slim';
import type { StandardSchema } from 'harvestman/inline';

const hm: Same = new Harvestman({ apiUrl: 'http://localhost:3002', apiKey: 'fc-x', headers: { 'x-a': 'b' }, timeoutMs: 5 });
new Harvestman('fc-x');
declare const shop: StandardSchema<{ price: number }>;
export async function use(): Promise<JobResult> {
  await init(new Uint8Array());
  await initPages('https://example.com/pages.wasm');
  await initCharsets(new Uint8Array());
  initCrawlSync(new Uint8Array());
  await ready({ charsets: true });
  const page: Document = await hm.scrape('https://example.com', { formats: ['markdown', { type: 'json', schema: {} }] });
  const title: string | undefined = page.metadata.title;
  const job = await hm.startCrawl('https://example.com', { limit: 5, scrapeOptions: { onlyMainContent: false } });
  for await (const one of job.pages()) console.log(one.markdown, title);
  const allowed: boolean = new Robots('').check('https://example.com/').allowed;
  const reason: string | undefined = new Scope({ url: 'https://example.com' }).check('https://a.b').reason;
  try { htmlToMarkdown('<p>', { url: 'https://example.com' }); } catch (error) {
    if (error instanceof AuthError) console.log(error.status, error.requestId, allowed, reason);
  }
  const typed = await hm.scrape('https://example.com', { formats: ['links', { type: 'json', schema: shop }] });
  const price: number | undefined = typed.json?.price;
  const extracted = await hm.extract({ urls: ['https://example.com'], schema: shop, timeoutMs: 5 });
  const other: number | undefined = extracted.data?.price;
  const agent = await hm.agent({ prompt: 'find it', schema: shop });
  console.log(price, other, agent.data?.price, (await hm.search('x')).web?.[0]?.url, (await hm.getActiveCrawls()).crawls.length);
  using robots = new Robots('');
  robots.free();
  await using session = hm.interaction('id');
  console.log((await session.run('1')).stdout, (await session.prompt('click x', { timeout: 5 })).output);
  for await (const entry of hm.activity({ endpoint: 'crawl' })) console.log(entry.target);
  const crawler = new LocalCrawler({ url: 'https://example.com', limit: 5, scrapeOptions: { formats: ['markdown'] } });
  for await (const one of crawler.run({ onError: ({ url, code }) => console.log(url, code) })) console.log(one.markdown, crawler.counts.completed);
  new LocalCrawler({ snapshot: crawler.snapshot() }).stop();
  for (const step of planSteps('click x')) if (step.action === 'fill') console.log(step.text, step.element.ref);
  const batch = await hm.startBatchScrape(['https://example.com'], { formats: ['html'], ignoreInvalidURLs: true });
  console.log(batch.invalidURLs.length, (await batch.wait()).data);
  await hm.batchScrape(['https://example.com'], { options: { formats: ['markdown'] }, pollInterval: 2 });
  return hm.crawl('https://example.com', { limit: 5, onProgress: (now) => console.log(now.completed) });
}
// @ts-expect-error: no such option
void hm.scrape('https://example.com', { formatss: [] });
// @ts-expect-error: not a number
void hm.startCrawl('https://example.com', { limit: '5' });
// @ts-expect-error: needs a server
new LocalCrawler({ url: 'https://example.com', webhook: 'https://example.com' });
// @ts-expect-error: the price is a number
export const wrong = async (): Promise<string | undefined> => (await hm.extract({ urls: ['https://example.com'], schema: shop })).data?.price;
`;
const WITH_DOM = `
import Harvestman, { LocalCrawler } from 'harvestman';
const stop = new AbortController();
const hm = new Harvestman({ fetch });
export const page = hm.scrape(new URL('https://example.com'), {}, { signal: stop.signal });
export const file = hm.parse(new File([], 'x.pdf'), { formats: ['markdown'] });
export const stream = hm.parse({ data: new Blob([]).stream(), filename: 'x.pdf' });
export const crawler = new LocalCrawler({ url: new URL('https://example.com'), fetch });
// @ts-expect-error: no name
export const blob = hm.parse({ filename: 'x.pdf' });
`;
const OLD_LIB = ['lib.es2022.d.ts'];
const DOM = ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'];
// A console, where nothing else declares one.
const CONSOLE = 'declare global { var console: { log(...values: unknown[]): void } }\n';

for (const [moduleResolution, module, name] of [
  ['Node16', 'Node16', 'use.mts'],
  ['Node16', 'Node16', 'use.cts'],
  ['NodeNext', 'NodeNext', 'use.mts'],
  ['NodeNext', 'NodeNext', 'use.cts'],
  ['Bundler', 'ESNext', 'use.ts'],
]) {
  for (const [lib, text] of [[OLD_LIB, CONSOLE + USE], [DOM, USE], [DOM, WITH_DOM]]) {
    test(`types compile with module resolution ${moduleResolution}, ${name}, ${lib.length} libraries, ${text === WITH_DOM ? 'DOM types' : 'all calls'}`, () => {
      const file = join(project, name);
      writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
      writeFileSync(file, text);
      const program = ts.createProgram([file], {
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        target: ts.ScriptTarget.ES2022,
        lib,
        types: [],
        module: ts.ModuleKind[module],
        moduleResolution: ts.ModuleResolutionKind[moduleResolution],
      });
      const problems = ts.getPreEmitDiagnostics(program);
      assert.deepEqual(problems.map(({ file, start, messageText }) => `${file?.fileName}:${file ? file.getLineAndCharacterOfPosition(start).line + 1 : ''} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`), []);
    });
  }
}

test('publint reports no problems', async () => {
  const { publint } = await import(pathToFileURL(require.resolve('publint')));
  const { messages } = await publint({ pkgDir: installed, strict: true, pack: false });
  assert.deepEqual(messages, []);
});

test('are-the-types-wrong reports no problems', async () => {
  const { checkPackage, createPackageFromTarballData } = await import(pathToFileURL(require.resolve('@arethetypeswrong/core')));
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(join(project, tarball.filename)))));
  assert.deepEqual(result.problems, []);
});
