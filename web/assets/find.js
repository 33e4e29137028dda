// Finds text in an element, across its child nodes, and highlights the matches without changing the DOM.

/** Highlights every match of `query` in `root`, scrolls to the match at index `at`, and returns the number of matches. */
export function mark(root, query, at) {
  clear();
  const matches = query ? findAll(root, query) : [];
  const current = matches[at];
  if (current) {
    CSS.highlights?.set("found", new Highlight(...matches));
    CSS.highlights?.set("found-here", new Highlight(current));
    scrollToRange(current);
  }
  return matches.length;
}

/** Removes all highlights. */
export function clear() {
  CSS.highlights?.delete("found");
  CSS.highlights?.delete("found-here");
}

const MAX_MATCHES = 10_000;

function findAll(root, query) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const [nodes, starts] = [[], []];
  let text = "";
  while (walker.nextNode()) {
    nodes.push(walker.currentNode);
    starts.push(text.length);
    text += walker.currentNode.data;
  }
  const matches = [];
  let node = 0;
  const position = (offset, isEnd) => {
    while (node + 1 < starts.length && starts[node + 1] < offset + (isEnd ? 0 : 1)) node += 1;
    return [nodes[node], offset - starts[node]];
  };
  for (const { index, 0: match } of text.matchAll(new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu"))) {
    const range = new Range();
    range.setStart(...position(index, false));
    range.setEnd(...position(index + match.length, true));
    if (matches.push(range) === MAX_MATCHES) break;
  }
  return matches;
}

/** Scrolls the closest scrollable ancestor until a match is in the middle of it, unless it is in view. */
function scrollToRange(range) {
  for (let box = range.startContainer.parentElement; box; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && getComputedStyle(box).overflowY !== "visible") {
      const [inner, outer] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
      if (box === document.documentElement || (inner.top >= outer.top && inner.bottom <= outer.bottom)) return;
      box.scrollTop += inner.top - outer.top - box.clientHeight / 2;
      return;
    }
  }
}
