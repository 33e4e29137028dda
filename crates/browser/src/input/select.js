(x, y, most) => {
    // Find the innermost element at the point, through open shadow roots and same-origin frames.
    let root = document, left = 0, top = 0, found = null;
    for (;;) {
        const next = root.elementFromPoint(x - left, y - top);
        if (!next || next === found) break;
        found = next;
        if (found.shadowRoot) {
            root = found.shadowRoot;
        } else if (found.localName === 'iframe' && found.contentDocument) {
            const box = found.getBoundingClientRect();
            left += box.left + found.clientLeft;
            top += box.top + found.clientTop;
            root = found.contentDocument;
        } else {
            break;
        }
    }
    const select = found?.closest('select');
    if (!select || select.disabled || select.multiple || select.size > 1) return null;
    select.focus();
    globalThis.harvestmanSelect = select;
    const box = select.getBoundingClientRect();
    return {
        options: [...select.options].slice(0, most).map((option) => ({
            label: (option.label || option.text).slice(0, 200),
            group: (option.parentElement.localName === 'optgroup' ? option.parentElement.label : '').slice(0, 200),
            disabled: option.disabled || option.parentElement.disabled === true,
        })),
        selected: select.selectedIndex,
        box: [left + box.left, top + box.top, box.width, box.height],
    };
}
