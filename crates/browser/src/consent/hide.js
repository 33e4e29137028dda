(selectors) => {
  const roots = ["HTML", "BODY", "MAIN", "ARTICLE", "H1", "H2", "H3", "H4", "H5", "H6"];
  const banners = [...document.querySelectorAll(selectors)].filter((element) => !roots.includes(element.tagName));
  const isShown = banners.some((banner) => banner.getClientRects().length > 0 || banner.shadowRoot !== null);
  for (const banner of banners) banner.style.setProperty("display", "none", "important");
  if (banners.length > 0) {
    // The page cannot be scrolled while a dialog is open.
    for (const root of [document.documentElement, document.body]) {
      if (getComputedStyle(root).overflowY === "hidden") root.style.setProperty("overflow", "auto", "important");
    }
  }
  return isShown;
}
