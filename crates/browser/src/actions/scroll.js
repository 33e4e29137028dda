(selector, sign) => {
  const element = selector === null ? document.scrollingElement : document.querySelector(selector);
  if (!element) return selector === null;
  const height = selector === null ? window.innerHeight : element.clientHeight;
  element.scrollBy({ top: sign * height, behavior: "instant" });
  return true;
}
