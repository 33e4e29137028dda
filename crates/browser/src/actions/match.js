(selector, index) => {
  // Returns a remembered element; if the page has replaced it, the one in its place. `undefined` after a navigation.
  const { matches } = globalThis;
  if (!matches || matches[index].isConnected) return matches?.[index];
  const now = document.querySelectorAll(selector);
  return now[index + Math.min(0, now.length - matches.length)];
}
