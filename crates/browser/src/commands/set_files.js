function (files) {
  if (!(this instanceof HTMLInputElement) || this.type !== "file") throw new Error("takes no files; name a field of type file");
  if (files.length > 1 && !this.multiple) throw new Error("takes one file");
  const transfer = new DataTransfer();
  for (const { name, type, data } of files) {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    transfer.items.add(new File([bytes], name, { type }));
  }
  this.files = transfer.files;
  for (const kind of ["input", "change"]) this.dispatchEvent(new Event(kind, { bubbles: true, composed: true }));
}
