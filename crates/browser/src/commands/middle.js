() => {
  // What scrolls when the wheel is turned: the page if it has something to scroll, else what is in its middle.
  const root = document.scrollingElement;
  if (root && (root.scrollHeight > root.clientHeight || root.scrollWidth > root.clientWidth)) return root;
  return document.elementFromPoint(innerWidth / 2, innerHeight / 2) ?? root ?? document.documentElement;
}
