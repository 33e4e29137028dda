// Extracts the main content of pages with defuddle, for `cargo xtask score --peers`. Reads JSON lines (`id`, `url`,
// `html`) and writes JSON lines (`id`, `markdown`). The argument is the folder with `node_modules`.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// The packages are outside the folder of this file, so their files are named.
const load = (file) => import(pathToFileURL(`${process.argv[2]}/node_modules/${file}`));
const { parseHTML } = await load("linkedom/esm/index.js");
const { Defuddle } = await load("defuddle/dist/node.js");
// The libraries log to standard output.
console.log = console.warn = console.error = () => {};

for await (const line of createInterface({ input: process.stdin })) {
  const page = JSON.parse(line);
  let markdown = "";
  try {
    const { document } = parseHTML(page.html);
    markdown = (await Defuddle(document, page.url, { markdown: true })).content;
  } catch {
    // A page on which the library fails counts as empty.
  }
  process.stdout.write(JSON.stringify({ id: page.id, markdown: markdown ?? "" }) + "\n");
}
