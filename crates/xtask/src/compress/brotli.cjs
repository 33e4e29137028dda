"use strict";
const { readFile, writeFile } = require("node:fs/promises");
const { promisify } = require("node:util");
// Its default is the highest level.
const compress = promisify(require("node:zlib").brotliCompress);

async function copy(from, to) {
  await writeFile(to, await compress(await readFile(from)));
}

const paths = process.argv.slice(1);
const pairs = Array.from({ length: paths.length / 2 }, (_, index) => paths.slice(2 * index, 2 * index + 2));
Promise.all(pairs.map((pair) => copy(...pair))).catch((error) => {
  console.error(error);
  process.exit(1);
});
