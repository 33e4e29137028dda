/** The browser session of a scrape. The first run opens it. */
export class Interaction {
  #client;
  #isOpen = false;

  constructor(client, scrapeId) {
    this.#client = client;
    this.scrapeId = scrapeId;
  }

  /** Runs code in the session and returns what it printed and returned. */
  async run(code, given, call) {
    this.#isOpen = true;
    return this.#client.interact(this.scrapeId, { language: 'node', ...given, code }, call);
  }

  /** Lets the server act on the page as the prompt says. */
  async prompt(prompt, given, call) {
    this.#isOpen = true;
    return this.#client.interact(this.scrapeId, { ...given, prompt }, call);
  }

  /** Ends the session. */
  async stop(call) {
    this.#isOpen = false;
    return this.#client.stopInteraction(this.scrapeId, call);
  }

  /** Ends the session if it was opened and still lives. */
  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    if (!this.#isOpen) return;
    await this.stop().catch((error) => {
      // It has already ended.
      if (error.status !== 404 && error.status !== 410) throw error;
    });
  }
}
