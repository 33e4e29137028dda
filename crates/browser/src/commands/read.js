(words, limit) => {
  // Returns what the page says about something: the value of a field with that label, the text of an element
  // with that name in its attributes, its neighbour in a list or table, or the line that mentions it. Null if
  // nothing does.
  const flat = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const normalize = (text) => flat(text).toLowerCase().replace(/[:?*]+$/, "").trim();
  const roots = [document];
  for (const root of roots) for (const e of root.querySelectorAll("*")) if (e.shadowRoot) roots.push(e.shadowRoot);
  const each = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const isVisible = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const textOf = (e) => {
    if (e.localName === "select") return flat([...e.selectedOptions].map((option) => option.label).join(", "));
    if (/^(checkbox|radio)$/.test(e.type)) return e.checked ? "checked" : "not checked";
    if ("value" in e && /^(input|textarea|output|meter|progress)$/.test(e.localName)) return flat(String(e.value));
    if (e.localName === "img") return flat(e.alt);
    return (e.innerText ?? e.textContent ?? "").trim();
  };
  const first = (list) => {
    const found = list.find((e) => isVisible(e) && textOf(e) !== "");
    return found ? textOf(found).slice(0, limit) : undefined;
  };
  const fields = each("input:not([type=hidden]), textarea, select, output, meter, progress");
  const named = each("body [id], body [class], body [itemprop], body [name], body [data-testid], body [aria-label]");
  const lines = (document.body?.innerText ?? "").split("\n").map(flat).filter(Boolean);
  const lookUp = (wanted) => {
    const parts = wanted.split(/[^\p{L}\p{N}]+/u).filter((part) => part && !/^(the|an?|of|for|in|on|at|to|is|and)$/.test(part));
    if (parts.length === 0) return null;
    const heading = /^(?:main |first )?(?:heading|headline|title)$/.test(wanted);
    if (heading) {
      const found = first([...each("h1"), ...each("h2, h3, h4, h5, h6, [role=heading]")]);
      if (found !== undefined) return found;
    }
    const names = (e) => [...(e.labels ?? [])].map((label) => label.textContent).concat(e.getAttribute("aria-label"), e.getAttribute("placeholder"));
    for (const match of [(text) => normalize(text) === wanted, (text) => text && normalize(text).includes(wanted)]) {
      const found = first(fields.filter((e) => names(e).some(match)));
      if (found !== undefined) return found;
    }
    const slug = parts.join("");
    const slugs = (e) => [e.id, ...e.classList, e.getAttribute("itemprop"), e.getAttribute("name"), e.dataset?.testid, e.getAttribute("aria-label")]
      .filter(Boolean)
      .map((name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ""));
    for (const match of [(name) => name === slug, (name) => name.endsWith(slug), (name) => name.startsWith(slug)]) {
      const found = first(named.filter((e) => slugs(e).some(match)));
      if (found !== undefined) return found;
    }
    if (/^(article|aside|dialog|figure|footer|form|header|main|nav|output|table)$/.test(slug)) {
      const found = first(each(slug));
      if (found !== undefined) return found;
    }
    const neighbours = [];
    for (const e of each("dt, th, td, label, b, strong, h1, h2, h3, h4, h5, h6")) {
      if (normalize(e.textContent) !== wanted || !isVisible(e)) continue;
      const column = e.localName === "th" && e.closest("thead, table")?.querySelectorAll("tr");
      const next = e.nextElementSibling;
      if (column && (!next || next.localName === "th")) {
        for (const row of column) if (row.cells[e.cellIndex] && row.cells[e.cellIndex] !== e) neighbours.push(row.cells[e.cellIndex]);
        if (neighbours.length) return neighbours.map(textOf).join("\n").slice(0, limit);
      } else if (next) neighbours.push(next);
    }
    const near = first(neighbours);
    if (near !== undefined) return near;
    const mentions = (line) => parts.every((part) => line.toLowerCase().includes(part));
    const line = lines.find(mentions);
    if (line === undefined) return null;
    // For a line that is only a label, return the next line.
    const following = normalize(line) === wanted ? lines[lines.indexOf(line) + 1] : undefined;
    return (following ?? line).slice(0, limit);
  };
  const wanted = normalize(words).replace(/^(the|a|an|its|all|of)\s+/, "");
  // `the price field` means the price.
  const shorter = wanted.replace(/\s+(text|value|field|label|message|line|box|section|number|amount)$/, "");
  return lookUp(wanted) ?? (shorter === wanted ? null : lookUp(shorter));
}
