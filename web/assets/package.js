// Loads the npm package from this server into the page, once and on demand.
let loading;

/** Returns a promise of the package; `entry` is the URL of its `slim.js`. A failed load can be retried. */
export function load(entry) {
  loading ??= initialize(new URL(entry, location.href)).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function initialize(entry) {
  const module = await import(entry);
  await Promise.all([module.init(new URL("harvestman.wasm", entry)), module.initPages(new URL("pages.wasm", entry))]);
  return module;
}

/** Runs a tool; input and output are JSON texts. */
export const run = (module, tool, input) => JSON.stringify(tools[tool](module, JSON.parse(input)));

const tools = {
  page: (module, { html, ...options }) => ({
    markdown: module.htmlToMarkdown(html, options),
    html: module.cleanHtml(html, options),
    links: module.extractLinks(html, options),
    metadata: module.extractMetadata(html, options),
  }),
  scope: (module, { request, links, depth }) =>
    using(new module.Scope(request), (rules) => links.map((url) => ({ url, ...check(rules, url, depth) }))),
  robots: (module, { text, url, agent }) => using(new module.Robots(text), (rules) => rules.check(url, agent)),
  sitemap: (module, { text, url }) => module.parseSitemap(text, { url }),
  webhook: (module, { body, signature, secret }) => {
    const expected = module.signWebhook({ body, secret });
    try {
      return { expected, event: module.verifyWebhook({ body, signature, secret }) };
    } catch (error) {
      return { expected, problem: error.message };
    }
  },
};

function check(rules, url, depth) {
  try {
    return rules.check(url, { depth });
  } catch (error) {
    return { included: false, reason: error.message };
  }
}

function using(rules, use) {
  try {
    return use(rules);
  } finally {
    rules[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
  }
}
