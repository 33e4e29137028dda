(element) => {
  // Returns a point where a pointer hits the element. Without such a point, clicks the element by script.
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const boxes = element.getClientRects();
  for (const box of boxes) {
    const x = box.left + box.width / 2;
    const y = box.top + box.height / 2;
    const hit = box.width > 0 && box.height > 0 ? document.elementFromPoint(x, y) : null;
    if (hit && (hit === element || element.contains(hit) || hit.shadowRoot?.contains(element))) return { x, y };
  }
  element.click();
  return null;
}
