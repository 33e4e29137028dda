// Everything that the package exports, except how the wasm is loaded.
export { AuthError, HarvestmanError, HarvestmanError as SdkError, JobTimeoutError, NetworkError, PaymentRequiredError, RateLimitError, ValidationError } from './errors.js';
export { Harvestman, Harvestman as default, Harvestman as Firecrawl, Harvestman as FirecrawlClient } from './client.js';
export { LocalCrawler } from './local.js';
export { cleanHtml, extractLinks, extractMetadata, htmlToMarkdown, normalizeUrl, parseSitemap, planCrawl, planSteps, Robots, Scope, signWebhook, verifyWebhook } from './tools.js';
export { ready } from './ready.js';
