// Each way to load the package: CommonJS, bundlers, workers, a strict content security policy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, constants, deflateRawSync } from 'node:zlib';
import { installed, project, setting } from './package.mjs';

const require = createRequire(join(setting('HARVESTMAN_TEST_JAVASCRIPT'), 'package.json'));
const esbuild = require('esbuild');
const SAY = `console.log(hm.htmlToMarkdown('<h1>Title</h1>', { onlyMainContent: false }).trim(), new hm.Robots('').check('https://a.test/').allowed, typeof hm.default)`;
const SAID = '# Title true function\n';
const brotli = (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
const run = (name, text) => {
  const file = join(project, name);
  writeFileSync(file, text);
  return execFileSync(process.execPath, [file], { encoding: 'utf8', cwd: project });
};
const bundle = async (name, text, options = {}) => {
  const entry = join(project, name);
  writeFileSync(entry, text);
  const { outputFiles } = await esbuild.build({ entryPoints: [entry], bundle: true, write: false, format: 'esm', outdir: project, logLevel: 'silent', target: 'es2022', ...options });
  return outputFiles[0].text;
};

test('CommonJS and modules load the main and the inline entry', () => {
  for (const entry of ['harvestman', 'harvestman/inline']) {
    assert.equal(run('use.cjs', `const hm = require('${entry}'); ${SAY}`), SAID);
    assert.equal(run('use.mjs', `import * as hm from '${entry}'; ${SAY}`), SAID);
  }
  const bytes = (file) => `require('node:fs').readFileSync(require.resolve('harvestman/${file}'))`;
  const slim = `hm.initPagesSync(${bytes('pages.wasm')}); hm.init(${bytes('harvestman.wasm')}).then(() => ${SAY})`;
  assert.equal(run('slim.cjs', `const hm = require('harvestman/slim'); ${slim}`), SAID);
});

test('errors of both copies are instances of each other', () => {
  const script = `import { createRequire } from 'node:module'; import { ValidationError } from 'harvestman';
    const { htmlToMarkdown } = createRequire(import.meta.url)('harvestman');
    try { htmlToMarkdown('x', { nope: 1 }) } catch (error) { console.log(error instanceof ValidationError) }`;
  assert.equal(run('both.mjs', script), 'true\n');
});

test('each file is loaded when it is first needed', () => {
  const use = `import Harvestman, { htmlToMarkdown, Robots } from 'harvestman'; import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    const read = []; const { readFileSync } = fs;
    fs.readFileSync = (file, ...more) => (read.push(String(file).split('/').at(-1)), readFileSync(file, ...more)); syncBuiltinESMExports();
    new Robots('').free();
    await new Harvestman({ fetch: async () => Response.json({ success: true, data: {} }) }).scrape('https://a.test');
    const steps = [read.join()];
    htmlToMarkdown('x'); htmlToMarkdown(Buffer.from('caf\\xe9', 'latin1'), { contentType: 'text/html; charset=iso-8859-1' }); htmlToMarkdown(Buffer.from('<meta charset=koi8-r>x'));
    steps.push(read.join()); htmlToMarkdown(Buffer.from('<meta charset=koi8-r>\\xc1', 'latin1')); steps.push(read.join());
    console.log(steps.join(' '));`;
  assert.equal(run('client.mjs', use), 'harvestman.wasm harvestman.wasm,pages.wasm harvestman.wasm,pages.wasm,charsets.wasm\n');
});

test('without pages.wasm or charsets.wasm, a conversion says what to load', () => {
  const use = `import { htmlToMarkdown, initCharsets, initPagesSync, initSync } from 'harvestman/slim'; import { readFileSync } from 'node:fs';
    const bytes = (name) => readFileSync(new URL(import.meta.resolve('harvestman/' + name)));
    const japanese = Uint8Array.of(0x82, 0xa0), contentType = 'text/html; charset=shift_jis';
    const say = (name) => { try { console.log(htmlToMarkdown(japanese, { contentType, onlyMainContent: false }).trim()); } catch (error) { console.log(error.code, error.message.includes(name)); } };
    initSync(bytes('harvestman.wasm')); say('initPages');
    initPagesSync(bytes('pages.wasm')); say('initCharsets');
    console.log(htmlToMarkdown(Uint8Array.of(0xe9), { contentType: 'text/html; charset=latin1', onlyMainContent: false }).trim());
    await initCharsets(bytes('charsets.wasm')); say('');`;
  assert.equal(run('unloaded.mjs', use), 'NOT_LOADED true\nNOT_LOADED true\né\nあ\n');
});

test('the inline entry works in one file, minified, and keeps the names of errors', async () => {
  const text = await bundle('inline-use.mjs', `import * as hm from 'harvestman/inline'; ${SAY}; try { hm.htmlToMarkdown('x', { nope: 1 }) } catch (error) { console.log(error.name, error instanceof hm.ValidationError) }`, { minify: true, platform: 'browser' });
  // Only the text of the bundle: there is no other file next to it.
  assert.equal(run('inline-out.mjs', text), `${SAID}ValidationError true\n`);
  const cjs = await bundle('inline-use.mjs', `import * as hm from 'harvestman/inline'; ${SAY}`, { format: 'cjs', platform: 'browser' });
  assert.equal(run('inline-out.cjs', cjs), SAID);
});

test('what the inline entry packs is unpacked', async () => {
  const { inflate } = await import('../../crates/wasm/npm/inflate.js');
  const random = Uint8Array.from({ length: 100_000 }, (_, at) => (Math.imul(at, at) * 2654435761) >>> 24);
  const inputs = [new Uint8Array(), Buffer.from('a'), Buffer.from('abc'.repeat(100)), Buffer.alloc(100_000), random, readFileSync(join(installed, 'harvestman.wasm'))];
  // Stored blocks, both kinds of codes, and no distances.
  for (const options of [{ level: 9 }, { level: 0 }, { strategy: constants.Z_FIXED }, { strategy: constants.Z_HUFFMAN_ONLY }]) {
    for (const input of inputs) {
      const size = Buffer.alloc(4);
      size.writeUInt32LE(input.length);
      const packed = Buffer.concat([size, deflateRawSync(input, options)]);
      assert.equal(Buffer.compare(inflate(packed), input), 0, `${input.length} bytes ${JSON.stringify(options)}`);
    }
  }
});

test('Rollup bundles the inline entry without plugins', async () => {
  const { rollup } = require('rollup');
  const entry = join(project, 'rollup.mjs');
  writeFileSync(entry, `import * as hm from ${JSON.stringify(join(installed, 'inline.js'))}; ${SAY}`);
  const bundled = await rollup({ input: entry, onLog: (_, log) => assert.fail(log.message) });
  const { output } = await bundled.generate({ format: 'es' });
  assert.equal(run('rollup-out.mjs', output[0].code), SAID);
});

test('the inline entry works as a classic service worker', async () => {
  const text = await bundle('sw.mjs', `import * as hm from 'harvestman/inline'; self.result = [hm.htmlToMarkdown('<h1>Title</h1>', { onlyMainContent: false }).trim(), typeof hm.Harvestman]`, { format: 'iife', platform: 'browser' });
  const { runInNewContext } = await import('node:vm');
  // What a service worker has, without Node.js.
  const scope = { WebAssembly, TextEncoder, TextDecoder, URL, Headers, Response, Blob, FormData, AbortController, AbortSignal, atob, fetch, crypto, setTimeout, clearTimeout, console, Symbol };
  scope.self = scope;
  // Code from text is forbidden, as with `script-src 'self' 'wasm-unsafe-eval'`.
  runInNewContext(text, scope, { contextCodeGeneration: { strings: false, wasm: true } });
  assert.deepEqual([...scope.result], ['# Title', 'function']);
});

test('bundles contain only what is imported, and no module awaits at its top level', async () => {
  const all = await bundle('all.mjs', `export * from 'harvestman/slim'`, { minify: true });
  const one = await bundle('one.mjs', `export { ValidationError } from 'harvestman/slim'`, { minify: true });
  const tools = await bundle('tools.mjs', `export { htmlToMarkdown } from 'harvestman/slim'`, { minify: true });
  assert.ok(one.length < 2500, `${one.length}`);
  assert.ok(tools.length < all.length * 0.6, `${tools.length} of ${all.length}`);
  for (const entry of ['node.js', 'browser.js', 'slim.js', 'inline.js', 'worker.js']) {
    // An older target refuses await at the top level.
    await esbuild.build({ entryPoints: [join(installed, entry)], bundle: true, write: false, format: 'esm', outdir: project, target: 'es2020', platform: 'node', loader: { '.wasm': 'empty' }, supported: { 'top-level-await': false }, logLevel: 'silent' });
  }
});

test('the hand-written JavaScript and the wasm are small', async () => {
  const own = await bundle('own.mjs', `export * from 'harvestman/slim'`, {
    minify: true,
    plugins: [{ name: 'without-glue', setup: (build) => build.onResolve({ filter: /glue\.js$/ }, () => ({ path: './glue.js', external: true })) }],
  });
  const size = brotli(own);
  assert.ok(size <= 12_000, `${size} bytes of JavaScript`);
  console.log(`JavaScript: ${size} bytes compressed`);
  for (const [file, limit] of Object.entries({ 'harvestman.wasm': 320_000, 'pages.wasm': 410_000, 'crawl.wasm': 400_000, 'charsets.wasm': 150_000 })) {
    const packed = brotli(readFileSync(join(installed, file)));
    console.log(`${file}: ${packed} bytes compressed`);
    assert.ok(packed <= limit, `${packed} bytes of ${file}`);
  }
});

test('nothing in the package tells of the machine that built it', () => {
  for (const name of readdirSync(installed)) {
    const text = readFileSync(join(installed, name), 'latin1');
    assert.doesNotMatch(text, /\.cargo\/registry|\/home\/|\/root\/|\.rustup/, name);
  }
});
