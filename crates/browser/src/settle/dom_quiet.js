(quiet, most) =>
  new Promise((done) => {
    // Resolves when no node was added, removed or changed for `quiet` ms, at the latest after `most` ms.
    let timer;
    const end = () => {
      observer.disconnect();
      clearTimeout(timer);
      done(true);
    };
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(end, quiet);
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true });
    timer = setTimeout(end, quiet);
    setTimeout(end, most);
  })
