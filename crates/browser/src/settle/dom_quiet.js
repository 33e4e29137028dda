(quiet, most) => {
  // Shared by the calls in one document: `changed` is when a node was last added, removed or changed.
  const start = () => {
    const watch = { changed: performance.now() };
    watch.observer = new MutationObserver(() => {
      watch.changed = performance.now();
    });
    watch.observer.observe(document, { subtree: true, childList: true, characterData: true });
    return watch;
  };
  const watch = (globalThis.domWatch ??= start());
  if (quiet === 0) return true;
  // Resolves when nothing has changed for `quiet` ms, at the latest after `most` ms.
  const end = performance.now() + most;
  return new Promise((done) => {
    const check = () => {
      const left = Math.min(watch.changed + quiet, end) - performance.now();
      if (left > 0) {
        setTimeout(check, left);
        return;
      }
      watch.observer.disconnect();
      delete globalThis.domWatch;
      done(true);
    };
    check();
  });
}
