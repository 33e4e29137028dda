// Settings from the caller and from the environment.
import { ValidationError } from './failure.js';

/** HARVESTMAN_<name>, else FIRECRAWL_<name>, where there is an environment. */
export function environment(name) {
  const variables = globalThis.process?.env ?? {};
  return variables[`HARVESTMAN_${name}`] || variables[`FIRECRAWL_${name}`] || undefined;
}

/** The settings, if none has a name that is not known: a misspelt one must not be ignored. */
export function pick(given, what, names) {
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) {
      throw new ValidationError({ code: 'BAD_REQUEST', message: `${what} has no setting \`${name}\`; it knows ${names.join(', ')}` });
    }
  }
  return given;
}
