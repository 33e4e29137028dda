// Settings from the caller and the environment.
import { ValidationError } from './failure.js';

/** Returns HARVESTMAN_<name>, or FIRECRAWL_<name>, if there is an environment. */
export function environment(name) {
  const variables = globalThis.process?.env ?? {};
  return variables[`HARVESTMAN_${name}`] || variables[`FIRECRAWL_${name}`] || undefined;
}

/** Returns the settings. Throws on an unknown name, so that a misspelled setting is not ignored. */
export function pick(given, what, names) {
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) {
      throw new ValidationError({ code: 'BAD_REQUEST', message: `${what} has no setting \`${name}\`; the settings are ${names.join(', ')}` });
    }
  }
  return given;
}
