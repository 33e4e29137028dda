function (text) {
  // Makes a field ready for a text that replaces what is written in it, and says so; a field that nobody types
  // into gets the text here and now.
  let field = this;
  if (field.localName === "label" && field.control) field = field.control;
  const writable = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
  if (!field.matches(writable) && !field.isContentEditable) field = field.querySelector(writable) ?? field;
  if (field.disabled) throw new Error("it is disabled");
  if (field.readOnly) throw new Error("it can only be read");
  if (field.localName === "select") throw new Error("it is a list: use `select`");
  const kind = field.localName === "input" ? field.type : field.localName;
  if (/^(checkbox|radio)$/.test(kind)) throw new Error("it is ticked, not written into: use `check`");
  if (/^(button|submit|reset|image|hidden|file)$/.test(kind)) throw new Error("nothing can be written into it");
  field.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  field.focus();
  if (/^(color|date|datetime-local|month|range|time|week)$/.test(kind)) {
    field.value = text;
    if (field.value !== text.trim().toLowerCase() && field.value !== text) {
      throw new Error(`\`${text}\` is no value for a field of the kind ${kind}`);
    }
    field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
    return false;
  }
  if (field.localName === "input" || field.localName === "textarea") {
    field.select();
    return true;
  }
  if (!field.isContentEditable) throw new Error("nothing can be written into it");
  field.ownerDocument.defaultView.getSelection().selectAllChildren(field);
  return true;
}
