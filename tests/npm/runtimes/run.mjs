// Installs the packed package in fresh folders and checks it in every JavaScript runtime and bundler: see places.mjs.
// Usage: run.mjs [PART OF A NAME]...
import { places } from './places.mjs';
import { Project } from './project.mjs';

const wanted = process.argv.slice(2);
let failed = 0;
for (const [name, { manifest, check }] of Object.entries(places)) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
  const project = new Project(name.replaceAll(/\W+/g, '-'), manifest);
  const start = performance.now();
  try {
    const details = await check(project);
    console.log(`ok      ${name}: ${details} (${Math.round((performance.now() - start) / 1000)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}: ${error.stack}`);
  } finally {
    project.remove();
  }
}
if (failed > 0) {
  console.log(`${failed} failed`);
  process.exitCode = 1;
}
