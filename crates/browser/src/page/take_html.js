(limit) => {
  // Returns the document as HTML, with open shadow trees inlined in their hosts. They are copied into a
  // document without scripts, so that no code of the page runs.
  const inert = document.implementation.createHTMLDocument("");
  const shown = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node.localName === "slot" && node.assignedNodes().length) return node.assignedNodes();
    return node.childNodes;
  };
  const flat = (node) => {
    const copy = inert.importNode(node, node.localName === "template");
    if (node.nodeType === 1) for (const child of shown(node)) copy.appendChild(flat(child));
    return copy;
  };
  const root = document.documentElement;
  if (!root) return "";
  const shadows = [...document.querySelectorAll("*")].some((element) => element.shadowRoot);
  let html;
  try {
    html = shadows ? flat(root).outerHTML : root.outerHTML;
  } catch {
    html = root.outerHTML;
  }
  return ((document.doctype ? "<!DOCTYPE html>" : "") + html).slice(0, limit);
}
