(x, y) => {
    // Returns a selector of the element at the point that matches no other element of the document, and its name.
    const hit = document.elementFromPoint(x, y);
    if (!hit) return null;
    const element = hit.closest('a, button, input, select, textarea, label, summary, option, [role], [onclick]') ?? hit;
    const isOnly = (selector) => document.querySelectorAll(selector).length === 1;
    const tag = element.localName;
    const text = (value) => JSON.stringify(value);
    const shown = [];
    if (element.id) shown.push(`#${CSS.escape(element.id)}`);
    for (const name of ['data-testid', 'data-test', 'name', 'aria-label', 'placeholder', 'title', 'alt', 'href', 'value', 'type']) {
        const value = element.getAttribute(name);
        if (value && value.length <= 200) shown.push(`${tag}[${name}=${text(value)}]`);
    }
    for (const name of element.classList) shown.push(`${tag}.${CSS.escape(name)}`);
    shown.push(tag);
    let selector = shown.find(isOnly);
    if (!selector) {
        // The path from the closest ancestor that has an id of its own.
        const parts = [];
        let at = element;
        while (at && at !== document.documentElement && !(parts.length > 0 && isOnly(parts.join(' > ')))) {
            const same = [...(at.parentElement?.children ?? [])].filter((other) => other.localName === at.localName);
            const isNamed = at.id && isOnly(`#${CSS.escape(at.id)}`);
            parts.unshift(isNamed ? `#${CSS.escape(at.id)}` : same.length > 1 ? `${at.localName}:nth-of-type(${same.indexOf(at) + 1})` : at.localName);
            if (isNamed) break;
            at = at.parentElement;
        }
        selector = parts.join(' > ');
    }
    const name = element.getAttribute('aria-label') ?? element.innerText ?? element.getAttribute('placeholder') ?? '';
    return { selector, name: name.replace(/\s+/g, ' ').trim().slice(0, 80) };
}
