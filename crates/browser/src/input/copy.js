(most) => {
    // Returns the selected text, of a field or of the document, in the focused frame.
    let view = document;
    let field = view.activeElement;
    for (;;) {
        const inner = field?.shadowRoot ?? (field?.localName === 'iframe' ? field.contentDocument : null);
        if (!inner) break;
        if (inner.getSelection) view = inner;
        field = inner.activeElement;
    }
    const within = field?.localName === 'textarea' || (field?.localName === 'input' && field.type !== 'password');
    const text = within && field.selectionStart !== null
        ? field.value.slice(field.selectionStart, field.selectionEnd)
        : (view.getSelection() ?? '').toString();
    return text.slice(0, most);
}
