(name, most) => {
  const items = {};
  let size = 0;
  try {
    for (const [key, value] of Object.entries(globalThis[name])) {
      size += key.length + value.length;
      items[key] = value;
    }
  } catch {
    // The document has no access to storage.
  }
  return { origin: location.origin, items: size > most ? {} : items };
}
