/** Emits the progress of a job: `document`, `snapshot`, `done`, `error`. For code written for firecrawl-js. */
export class Watcher {
  #job;
  #wait;
  #stop = new AbortController();
  #listeners = new Map();

  constructor(job, wait) {
    this.#job = job;
    this.#wait = wait;
  }

  on(event, listener) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(listener);
    return this;
  }

  off(event, listener) {
    this.#listeners.get(event)?.delete(listener);
    return this;
  }

  once(event, listener) {
    const single = (value) => {
      this.off(event, single);
      listener(value);
    };
    return this.on(event, single);
  }

  #emit(event, value) {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(value);
  }

  /** Watches until the job has ended or `close` is called. */
  async start() {
    const { id } = this.#job;
    const data = [];
    const onProgress = (progress) => this.#emit('snapshot', { ...progress, id, data });
    try {
      const pages = this.#job.pages({ ...this.#wait, signal: this.#stop.signal, onProgress });
      for (;;) {
        const { done, value } = await pages.next();
        if (done) return this.#emit('done', { ...value, id, data });
        data.push(value);
        this.#emit('document', { ...value, id });
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#emit('error', { status: 'failed', data, error: error.message, id });
    }
  }

  close() {
    this.#stop.abort();
  }
}
