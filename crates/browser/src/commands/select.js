function (wanted) {
  // Selects options of a list by value or text: exact, ignoring case, or partial.
  let list = this.localName === "label" && this.control ? this.control : this;
  if (list.localName === "option") list = list.closest("select") ?? list;
  if (list.localName !== "select") list = list.querySelector?.("select") ?? list;
  if (list.localName !== "select") throw new Error("it is not a list of options; click it, then click the option");
  if (list.disabled) throw new Error("the list is disabled");
  const flat = (text) => text.replace(/\s+/g, " ").trim();
  const lowerCase = (text) => flat(text).toLowerCase();
  const matchers = [
    (option, words) => option.value === words,
    (option, words) => flat(option.label) === flat(words),
    (option, words) => lowerCase(option.label) === lowerCase(words),
    (option, words) => lowerCase(option.label).includes(lowerCase(words)),
  ];
  const chosen = wanted.map((words) => {
    for (const matches of matchers) {
      const found = [...list.options].find((option) => !option.disabled && matches(option, words));
      if (found) return found;
    }
    const known = [...list.options].slice(0, 20).map((option) => `\`${flat(option.label)}\``);
    throw new Error(`the list has no option \`${words}\`; options: ${known.join(", ")}`);
  });
  if (chosen.length > 1 && !list.multiple) throw new Error("only one option can be selected");
  list.focus();
  if (list.multiple) for (const option of list.options) option.selected = chosen.includes(option);
  else chosen[0].selected = true;
  list.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  list.dispatchEvent(new Event("change", { bubbles: true }));
  return chosen.map((option) => flat(option.label)).join(", ");
}
