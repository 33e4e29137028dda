// Finds text in an element, across its child nodes, and highlights the matches without changing the DOM.

/** Highlights every match of `words` in `root`, scrolls to the match at index `at`, and returns the number of matches. */
export function mark(root, words, at) {
  clear();
  const places = words ? find(root, words) : [];
  const here = places[at];
  if (here) {
    CSS.highlights?.set("found", new Highlight(...places));
    CSS.highlights?.set("found-here", new Highlight(here));
    show(here);
  }
  return places.length;
}

/** Removes all highlights. */
export function clear() {
  CSS.highlights?.delete("found");
  CSS.highlights?.delete("found-here");
}

const MOST = 10_000;

function find(root, words) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const [nodes, starts] = [[], []];
  let text = "";
  while (walker.nextNode()) {
    nodes.push(walker.currentNode);
    starts.push(text.length);
    text += walker.currentNode.data;
  }
  const places = [];
  let node = 0;
  const within = (offset, isEnd) => {
    while (node + 1 < starts.length && starts[node + 1] < offset + (isEnd ? 0 : 1)) node += 1;
    return [nodes[node], offset - starts[node]];
  };
  for (const { index, 0: match } of text.matchAll(new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu"))) {
    const place = new Range();
    place.setStart(...within(index, false));
    place.setEnd(...within(index + match.length, true));
    if (places.push(place) === MOST) break;
  }
  return places;
}

/** Scrolls the closest scrollable ancestor until a match is in the middle of it, unless it is in view. */
function show(place) {
  for (let box = place.startContainer.parentElement; box; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && getComputedStyle(box).overflowY !== "visible") {
      const [inner, outer] = [place.getBoundingClientRect(), box.getBoundingClientRect()];
      if (box === document.documentElement || (inner.top >= outer.top && inner.bottom <= outer.bottom)) return;
      box.scrollTop += inner.top - outer.top - box.clientHeight / 2;
      return;
    }
  }
}
