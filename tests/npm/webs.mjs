// Webs to crawl: those of the crawl cases, and a documentation site. Runs in browsers too.

const html = (body, status = 200) => new Response(body, { status, headers: { 'content-type': 'text/html' } });

/** Returns a `fetch` whose whole web is a case. */
export const webOf = ({ web, robots = {}, sitemaps = {} }) => async (address) => {
  const url = String(address);
  const { origin, pathname } = new URL(url);
  if (pathname === '/robots.txt') return robots[origin] === undefined ? html('', 404) : new Response(robots[origin]);
  if (sitemaps[url]) {
    const { index } = sitemaps[url];
    const list = (index ?? sitemaps[url]).map((one) => (index ? `<sitemap><loc>${one}</loc></sitemap>` : `<url><loc>${one}</loc></url>`));
    return new Response(index ? `<sitemapindex>${list.join('')}</sitemapindex>` : `<urlset>${list.join('')}</urlset>`);
  }
  const page = web[url];
  if (!page) return html('<h1>none</h1>', 404);
  if (page.redirect) return new Response(null, { status: 302, headers: { location: page.redirect } });
  const { links = [], base, status } = Array.isArray(page) ? { links: page } : page;
  return html(`${base ? `<base href="${base}">` : ''}${links.map((href) => `<a href="${href}">x</a>`).join('')}`, status ?? 200);
};

/** Asserts that the URLs are those that a case expects. */
export function expectVisited(assert, visited, { visited: required = [], optional = [], one_of = [], within = [], count }) {
  assert.equal(new Set(visited).size, visited.length);
  for (const url of required) assert.ok(visited.includes(url), `${url} is missing in ${visited}`);
  for (const group of one_of) assert.equal(visited.filter((url) => group.includes(url)).length, 1, `${group} in ${visited}`);
  const allowed = [...required, ...optional, ...within, ...one_of.flat()];
  assert.deepEqual(visited.filter((url) => !allowed.includes(url)), []);
  if (count !== undefined) assert.equal(visited.length, count);
}

/** Collects what an iteration yields. */
export async function collect(pages) {
  const all = [];
  for await (const page of pages) all.push(page);
  return all;
}

const WORDS = 'spider web thread silk orb leg eye prey nest egg molt venom dusk dew wind leaf branch corner garden attic'.split(' ');
const sentence = (seed) => `${Array.from({ length: 9 + (seed % 7) }, (_, at) => WORDS[(seed * 7 + at * (3 + (seed % 5))) % WORDS.length]).join(' ')}.`;
const PARTS = [
  (page) => `<p>${sentence(page)} <b>${sentence(page + 1)}</b> <a href="/docs/${page + 1}#part">${WORDS[page % 20]}</a></p>`,
  (page) => `<table><caption>Table ${page}</caption><tr><th>Name<th>Value</tr><tr><td>${WORDS[page % 20]}<td><code>x | ${page}</code></tr></table>`,
  (page) => `<pre><code class="language-js">const page = ${page};\n// ${sentence(page)}\n</code></pre>`,
  (page) => `<ol><li>${sentence(page)}<ul><li>${sentence(page + 2)}</ul><li>two</ol>`,
  (page) => `<blockquote><p>${sentence(page + 3)}</p></blockquote><p>Caf\u00e9 ${page} &amp; <em>more</em> &hellip;</p>`,
  (page) => `<dl><dt>${WORDS[page % 20]}<dd>${sentence(page + 4)}</dl><p><img src="/images/${page}.png" alt="Figure ${page}"></p>`,
  (page) => `<details><summary>Note</summary><p>${sentence(page + 5)}</p></details><h3>See also</h3><p>${sentence(page + 6)}</p>`,
];
export const DOCS_PAGES = 500;

/** Returns the response of a documentation site of `DOCS_PAGES` pages as `{ status, type, body, location? }`. */
export function docs(origin, path) {
  const ok = (type, body) => ({ status: 200, type, body });
  if (path === '/robots.txt') return ok('text/plain', `User-agent: *\nDisallow: /docs/13\nAllow: /docs/130\nSitemap: ${origin}/sitemap.xml\n`);
  if (path === '/sitemap.xml') return ok('application/xml', `<urlset>${[490, 491, 13].map((page) => `<url><loc>${origin}/docs/${page}</loc></url>`).join('')}</urlset>`);
  if (path === '/') return { status: 301, type: 'text/plain', body: '', location: '/docs/0' };
  const page = Number(/^\/docs\/(\d+)$/.exec(path)?.[1] ?? -1);
  if (page < 0 || page >= DOCS_PAGES) return { status: 404, type: 'text/html', body: '<title>Not found</title><main><h1>Not found</h1><p>There is no such page.</p></main>' };
  const links = [2 * page + 1, 2 * page + 2, page - 1, page + 7].filter((to) => to >= 0 && to < DOCS_PAGES);
  const nav = `<nav><ul>${[0, 1, 2, ...links].map((to) => `<li><a href="/docs/${to}">Chapter ${to}</a>`).join('')}</ul></nav>`;
  const parts = PARTS.filter((_, at) => (page + at) % 3 !== 0).map((part, at) => `<h2 id="part-${at}">${sentence(page + at)}</h2>${part(page)}`);
  const body = `<!doctype html><html lang="en"><head><title>Chapter ${page} - Handbook</title><meta name="description" content="${sentence(page)}"></head>
<body><header><a href="/docs/0">Handbook</a></header>${nav}<main><article><h1>Chapter ${page}</h1><p>${sentence(page + 8)} ${sentence(page + 9)}</p>${parts.join('\n')}
<p>Next: ${links.map((to) => `<a href="/docs/${to}?from=${page}">Chapter ${to}</a>`).join(', ')}</p></article></main>
<footer><p>Handbook of spiders, page ${page}</p></footer></body></html>`;
  return ok('text/html; charset=utf-8', body);
}
