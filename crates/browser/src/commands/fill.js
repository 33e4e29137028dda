function (text) {
  // Prepares a field for text that replaces its value and returns true. Fields that users do not type into
  // are set here; then returns false.
  let field = this;
  if (field.localName === "label" && field.control) field = field.control;
  const writable = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
  if (!field.matches(writable) && !field.isContentEditable) field = field.querySelector(writable) ?? field;
  if (field.disabled) throw new Error("the field is disabled");
  if (field.readOnly) throw new Error("the field is read-only");
  if (field.localName === "select") throw new Error("it is a list; use `select`");
  const kind = field.localName === "input" ? field.type : field.localName;
  if (/^(checkbox|radio)$/.test(kind)) throw new Error("it is a checkbox or radio button; use `check`");
  if (/^(button|submit|reset|image|hidden|file)$/.test(kind)) throw new Error("the element does not accept text");
  field.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  field.focus();
  if (/^(color|date|datetime-local|month|range|time|week)$/.test(kind)) {
    field.value = text;
    if (field.value !== text.trim().toLowerCase() && field.value !== text) {
      throw new Error(`\`${text}\` is not a valid value for a field of type ${kind}`);
    }
    field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
    return false;
  }
  if (field.localName === "input" || field.localName === "textarea") {
    field.select();
    return true;
  }
  if (!field.isContentEditable) throw new Error("the element does not accept text");
  field.ownerDocument.defaultView.getSelection().selectAllChildren(field);
  return true;
}
