(limit) => {
  // Returns elements that are clickable only by style or attribute, which the accessibility tree does not
  // know.
  const known = "a[href], area, button, input, select, textarea, option, label, summary, video, audio, [role], [contenteditable], [tabindex]";
  const roots = [document];
  for (const root of roots) for (const e of root.querySelectorAll("*")) if (e.shadowRoot) roots.push(e.shadowRoot);
  const hasPointer = (e) => getComputedStyle(e).cursor === "pointer";
  const found = [];
  for (const root of roots) {
    for (const e of root.querySelectorAll("body *, :host > *")) {
      if (found.length === limit) return found;
      if (e.namespaceURI !== "http://www.w3.org/1999/xhtml" || e.matches(known) || e.closest("a[href], button, label, [role]")) continue;
      const marked = e.hasAttribute("onclick") || e.hasAttribute("ondblclick");
      const isClickable = marked || (hasPointer(e) && !(e.parentElement && hasPointer(e.parentElement)));
      if (isClickable && e.getClientRects().length > 0 && !e.querySelector(known)) found.push(e);
    }
  }
  return found;
}
