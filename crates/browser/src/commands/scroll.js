function (x, y) {
  // Scrolls the element, or its nearest ancestor that scrolls in this direction.
  const root = document.scrollingElement;
  const room = (e) => (e.scrollHeight > e.clientHeight && y !== 0) || (e.scrollWidth > e.clientWidth && x !== 0);
  const scrolls = (e) => e === root || /auto|scroll|overlay/.test(`${getComputedStyle(e).overflowX} ${getComputedStyle(e).overflowY}`);
  let element = this;
  while (element && !(room(element) && scrolls(element))) element = element.parentElement ?? element.getRootNode().host;
  (element ?? root)?.scrollBy({ left: x, top: y, behavior: "instant" });
}
