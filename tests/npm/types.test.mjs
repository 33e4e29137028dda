// The types of the package, checked by the TypeScript compiler, and its files, checked by publint.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { installed, project, setting } from './package.mjs';

const require = createRequire(join(setting('HARVESTMAN_TEST_JAVASCRIPT'), 'package.json'));
const ts = require('typescript');

const USE = `
import Harvestman, { AuthError, type Document, type JobResult, Harvestman as Same, htmlToMarkdown, Robots, Scope } from 'harvestman';
import { init } from 'harvestman/slim';

const hm: Same = new Harvestman({ apiUrl: 'http://localhost:3002', apiKey: 'fc-x' });
new Harvestman('fc-x');
export async function use(): Promise<JobResult> {
  await init(new Uint8Array());
  const page: Document = await hm.scrape('https://example.com', { formats: ['markdown', { type: 'json', schema: {} }] });
  const title: string | undefined = page.metadata.title;
  const job = await hm.startCrawl('https://example.com', { limit: 5, scrapeOptions: { onlyMainContent: false } });
  for await (const one of job.pages()) console.log(one.markdown, title);
  const allowed: boolean = new Robots('').check('https://example.com/').allowed;
  const reason: string | undefined = new Scope({ url: 'https://example.com' }).check('https://a.b').reason;
  try { htmlToMarkdown('<p>', { url: 'https://example.com' }); } catch (error) {
    if (error instanceof AuthError) console.log(error.status, allowed, reason);
  }
  const batch = await hm.startBatchScrape(['https://example.com'], { formats: ['html'], ignoreInvalidURLs: true });
  console.log(batch.invalidURLs.length, (await batch.wait()).data);
  return hm.crawl('https://example.com', { limit: 5, onProgress: (now) => console.log(now.completed) });
}
// @ts-expect-error: no such option
void hm.scrape('https://example.com', { formatss: [] });
// @ts-expect-error: not a number
void hm.startCrawl('https://example.com', { limit: '5' });
`;

for (const [moduleResolution, module] of [['NodeNext', 'NodeNext'], ['Bundler', 'ESNext']]) {
  test(`types compile with module resolution ${moduleResolution}`, () => {
    const file = join(project, 'use.ts');
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    writeFileSync(file, USE);
    const program = ts.createProgram([file], {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.esnext.disposable.d.ts'],
      types: [],
      module: ts.ModuleKind[module],
      moduleResolution: ts.ModuleResolutionKind[moduleResolution],
    });
    const problems = ts.getPreEmitDiagnostics(program);
    assert.deepEqual(problems.map((problem) => ts.flattenDiagnosticMessageText(problem.messageText, '\n')), []);
  });
}

test('publint reports no problems', async () => {
  const { publint } = await import(pathToFileURL(require.resolve('publint')));
  const { messages } = await publint({ pkgDir: installed, strict: true, pack: false });
  assert.deepEqual(messages, []);
});
