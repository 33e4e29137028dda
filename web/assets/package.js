// Loads the npm package from this server into the page, once and on demand.
let started;

/** Returns a promise of the package; `entry` is the URL of its `slim.js`. A failed load can be retried. */
export function load(entry) {
  started ??= start(new URL(entry, location.href)).catch((error) => {
    started = undefined;
    throw error;
  });
  return started;
}

async function start(entry) {
  const found = await import(entry);
  await found.init(new URL("harvestman.wasm", entry));
  return found;
}

/** Runs a tool; input and output are JSON texts. */
export const run = (found, tool, input) => JSON.stringify(tools[tool](found, JSON.parse(input)));

const tools = {
  page: (found, { html, ...options }) => ({
    markdown: found.htmlToMarkdown(html, options),
    html: found.cleanHtml(html, options),
    links: found.extractLinks(html, options),
    metadata: found.extractMetadata(html, options),
  }),
  scope: (found, { request, links, depth }) =>
    using(new found.Scope(request), (rules) => links.map((url) => ({ url, ...verdict(rules, url, depth) }))),
  robots: (found, { text, url, agent }) => using(new found.Robots(text), (rules) => rules.check(url, agent)),
  sitemap: (found, { text, url }) => found.parseSitemap(text, { url }),
  webhook: (found, { body, signature, secret }) => {
    const expected = found.signWebhook({ body, secret });
    try {
      return { expected, event: found.verifyWebhook({ body, signature, secret }) };
    } catch (error) {
      return { expected, problem: error.message };
    }
  },
};

function verdict(rules, url, depth) {
  try {
    return rules.check(url, { depth });
  } catch (error) {
    return { included: false, reason: error.message };
  }
}

function using(rules, ask) {
  try {
    return ask(rules);
  } finally {
    rules[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
  }
}
