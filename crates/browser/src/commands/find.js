(by, words, exact, nth) => {
  // Returns the matching element; if `nth` is null, the number of matches. Searches open shadow trees too.
  const roots = [document];
  for (const root of roots) for (const e of root.querySelectorAll("*")) if (e.shadowRoot) roots.push(e.shadowRoot);
  const each = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const flat = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const lowerCase = (text) => flat(text).toLowerCase();
  const contains = (text) => lowerCase(text).includes(lowerCase(words));
  const same = (text) => (exact ? flat(text) === flat(words) : lowerCase(text) === lowerCase(words));
  const isVisible = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const textOf = (e) => (e.localName === "input" ? (/^(button|submit|reset)$/.test(e.type) ? e.value : "") : e.textContent);
  const labels = (e) => [
    ...[...(e.labels ?? [])].map((label) => label.textContent),
    e.getAttribute("aria-label"),
    ...(e.getAttribute("aria-labelledby") ?? "").split(/\s+/).map((id) => id && document.getElementById(id)?.textContent),
  ];
  const withText = () => {
    const found = [];
    const visit = (e) => {
      if (/^(script|style|noscript|template|head)$/.test(e.localName)) return false;
      const inside = [...e.children, ...(e.shadowRoot?.children ?? [])];
      const shadowText = e.shadowRoot ? [...e.shadowRoot.children].map((child) => child.textContent).join(" ") : "";
      if (!contains(textOf(e)) && !contains(shadowText)) return false;
      const deeper = inside.filter(visit).length > 0;
      if (!deeper && (!exact || same(textOf(e)))) found.push(e);
      return deeper || found.at(-1) === e;
    };
    if (document.body) visit(document.body);
    return found;
  };
  // Visible elements come first, exact matches before partial ones.
  const best = (list, texts) => {
    const rank = (e) => (isVisible(e) ? 0 : 2) + (texts(e).some(same) ? 0 : 1);
    return list.map((e, at) => [rank(e), at, e]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , e]) => e);
  };
  const wanted = (texts) => (e) => texts(e).some(exact ? same : contains);
  const attribute = (name) => {
    const texts = (e) => [e.getAttribute(name)];
    return best(each(`[${name}]`).filter(wanted(texts)), texts);
  };
  const xpath = () => {
    const all = document.evaluate(words, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    return [...Array(all.snapshotLength).keys()].map((at) => all.snapshotItem(at)).filter((node) => node.nodeType === 1);
  };
  const found = {
    css: () => each(words),
    xpath,
    text: () => best(withText(), (e) => [textOf(e)]),
    label: () => best(each("input,textarea,select,button,meter,output,progress,[contenteditable],[role]").filter(wanted(labels)), labels),
    placeholder: () => attribute("placeholder"),
    alt: () => attribute("alt"),
    title: () => attribute("title"),
    testid: () => each("[data-testid]").filter((e) => e.dataset.testid === words),
  }[by]();
  return nth === null ? found.length : (found.at(nth) ?? null);
}
