(selectors) => {
  const isVisible = (element) =>
    element.getClientRects().length > 0 ||
    (element.shadowRoot !== null && [...element.shadowRoot.children].some(isVisible)) ||
    [...element.children].slice(0, 20).some(isVisible);
  if ([...document.querySelectorAll(selectors)].some(isVisible)) return true;
  // A banner of an unknown tool lies above the page, or is in a frame of its own.
  const isAbove = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      if (["fixed", "sticky"].includes(getComputedStyle(at).position)) return true;
    }
    return false;
  };
  const words = ["cookie", "consent", "gdpr", "privacy", "cmp"];
  const named = words.map((word) => `[id*="${word}" i],[class*="${word}" i],[src*="${word}" i]`).join(",");
  return [...document.body.querySelectorAll(named)]
    .slice(0, 200)
    .some((element) => !["SCRIPT", "LINK", "IMG"].includes(element.tagName) && isVisible(element) && isAbove(element));
}
