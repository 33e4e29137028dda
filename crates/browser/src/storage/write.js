(origin, local, session) => {
  if (location.origin !== origin) return;
  for (const [storage, items] of [[localStorage, local], [sessionStorage, session]])
    for (const [key, value] of Object.entries(items)) storage.setItem(key, value);
}
