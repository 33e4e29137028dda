() => {
  // Returns what the mouse wheel scrolls: the page if it can scroll, else the element in its middle.
  const root = document.scrollingElement;
  if (root && (root.scrollHeight > root.clientHeight || root.scrollWidth > root.clientWidth)) return root;
  return document.elementFromPoint(innerWidth / 2, innerHeight / 2) ?? root ?? document.documentElement;
}
