// The same package with manual loading: `await init(bytes | module | response | url)` or `initSync(bytes | module)`.
import start, { initSync as startSync } from './glue.js';

export const init = async (source) => void (await start({ module_or_path: source }));
export const initSync = (source) => void startSync({ module: source });

export * from './api.js';
export { Harvestman as default } from './api.js';
