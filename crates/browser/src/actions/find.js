(selector) => {
  // Remembers the elements that match, and returns their number.
  globalThis.matches = [...document.querySelectorAll(selector)];
  return matches.length;
}
