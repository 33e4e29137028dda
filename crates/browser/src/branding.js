() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  // Any CSS color as [red, green, blue, opacity from 0 to 1].
  const rgba = (color) => {
    if (canvas === null) return null;
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = "rgba(0, 0, 0, 0)";
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const hex = (color) => {
    const found = rgba(color);
    if (found === null || found[3] < 0.5) return null;
    return "#" + found.slice(0, 3).map((part) => part.toString(16).padStart(2, "0")).join("").toUpperCase();
  };
  const parts = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const luminance = (color) => {
    const [red, green, blue] = parts(color);
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
  };
  const isColorful = (color) => Math.max(...parts(color)) - Math.min(...parts(color)) > 40;
  const isVisible = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== "hidden";
  };
  const absolute = (url) => {
    try {
      return new URL(url, document.baseURI).href;
    } catch {
      return null;
    }
  };
  const most = (counts) => [...counts].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  const add = (counts, name, weight) => {
    if (name) counts.set(name, (counts.get(name) ?? 0) + weight);
  };
  const clean = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value != null && value !== ""));
  const families = (style) => style.fontFamily.split(",").map((name) => name.trim().replace(/^["']|["']$/g, ""));

  const all = [...document.querySelectorAll("body *")].slice(0, 5000).filter(isVisible);
  const fonts = new Map();
  const texts = new Map();
  const links = new Map();
  const fills = new Map();
  const durations = new Map();
  const easings = new Map();
  const iconColors = new Map();
  const iconStyles = new Map();
  const first = (list) => list.split(/,(?![^(]*\))/)[0].trim();
  for (const element of all) {
    const style = getComputedStyle(element);
    const own = [...element.childNodes].filter((node) => node.nodeType === 3);
    const length = own.reduce((sum, node) => sum + node.data.trim().length, 0);
    if (length > 0) {
      add(fonts, families(style)[0], length);
      const isLink = element.closest("a[href]") !== null;
      add(isLink ? links : texts, hex(style.color), length);
    }
    const fill = hex(style.backgroundColor);
    if (fill !== null && isColorful(fill)) {
      const box = element.getBoundingClientRect();
      const isControl = element.matches("button, [role=button], a, input[type=submit]");
      add(fills, fill, Math.sqrt(box.width * box.height) * (isControl ? 3 : 1));
    }
    const duration = first(style.transitionDuration);
    if (parseFloat(duration) > 0) {
      add(durations, duration, 1);
      add(easings, first(style.transitionTimingFunction), 1);
    }
    // A small drawing is an icon.
    const box = element.getBoundingClientRect();
    if (element.tagName === "svg" && box.width <= 48 && box.height <= 48) {
      const shapes = element.querySelectorAll("path, circle, rect, line, polyline, polygon, ellipse");
      for (const shape of [...shapes].slice(0, 20)) {
        const { fill, stroke } = getComputedStyle(shape);
        add(iconStyles, fill === "none" ? "outline" : "filled", 1);
        add(iconColors, hex(fill === "none" ? stroke : fill), 1);
      }
    }
  }

  const root = getComputedStyle(document.documentElement);
  const body = getComputedStyle(document.body);
  const background = hex(body.backgroundColor) ?? hex(root.backgroundColor) ?? "#FFFFFF";
  const named = (...names) => {
    for (const name of names) {
      for (const variable of [`--${name}`, `--color-${name}`, `--${name}-color`, `--brand-${name}`, `--bs-${name}`]) {
        const value = root.getPropertyValue(variable).trim();
        if (value !== "" && CSS.supports("color", value)) return hex(value);
      }
    }
    return null;
  };
  const meta = (...names) => {
    for (const name of names) {
      const content = document.querySelector(`meta[property="${name}"], meta[name="${name}"]`)?.content?.trim();
      if (content) return content;
    }
    return null;
  };
  const theme = meta("theme-color");
  const used = most(fills);
  const primary = named("primary", "brand") ?? used[0] ?? (theme === null ? null : hex(theme));
  const others = used.filter((color) => color !== primary);
  const textColors = most(texts);
  const link = most(links)[0] ?? null;

  const button = (element) => {
    const style = getComputedStyle(element);
    return clean({
      background: hex(style.backgroundColor),
      textColor: hex(style.color),
      borderColor: style.borderTopWidth === "0px" ? null : hex(style.borderTopColor),
      borderRadius: style.borderTopLeftRadius,
    });
  };
  const buttons = all.filter((element) => element.matches("button, [role=button], input[type=submit], a[class*=btn i], a[class*=button i]"));
  const filled = buttons.filter((element) => hex(getComputedStyle(element).backgroundColor) !== null);
  const main = filled.find((element) => hex(getComputedStyle(element).backgroundColor) === primary) ?? filled[0];
  const second = buttons.find((element) => main && button(element).background !== button(main).background);
  const field = all.find((element) => element.matches("input:not([type=submit], [type=checkbox], [type=radio]), textarea, select"));
  const components = clean({
    buttonPrimary: main ? button(main) : null,
    buttonSecondary: second ? button(second) : null,
    input: field ? button(field) : null,
  });

  const svg = (element) => {
    if (!element.getAttribute("xmlns")) {
      element = element.cloneNode(true);
      element.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    }
    const text = element.outerHTML;
    return text.length <= 50000 ? "data:image/svg+xml," + encodeURIComponent(text) : null;
  };
  const logoName = /logo|brand/i;
  const isLogo = (element) => {
    for (let at = element, steps = 0; at !== null && steps < 4; at = at.parentElement, steps += 1) {
      if (logoName.test(`${at.id} ${at.getAttribute("class") ?? ""}`)) return true;
      if (at.tagName === "A" && absolute(at.getAttribute("href") ?? "x") === new URL("/", document.baseURI).href) return true;
    }
    return logoName.test(`${element.getAttribute("alt") ?? ""} ${element.getAttribute("src") ?? ""} ${element.getAttribute("aria-label") ?? ""}`);
  };
  const pictures = all.filter((element) => element.matches("img, svg") && isLogo(element));
  const picture = pictures.find((element) => element.closest("header, nav, [role=banner]") !== null) ?? pictures[0];
  const logo = picture === undefined ? null : picture.tagName === "IMG" ? absolute(picture.currentSrc || picture.src) : svg(picture);
  const icon = document.querySelector('link[rel~="icon"], link[rel="apple-touch-icon"]')?.href ?? null;
  const image = meta("og:image", "twitter:image");

  const size = (selector) => {
    const found = all.find((element) => element.matches(selector));
    return found === undefined ? null : getComputedStyle(found);
  };
  const heading = size("h1") ?? size("h2") ?? size("h3");
  const text = size("p") ?? body;
  const code = size("code, pre");
  const height = (style) => {
    const ratio = parseFloat(style.lineHeight) / parseFloat(style.fontSize);
    return Number.isFinite(ratio) ? Math.round(ratio * 100) / 100 : null;
  };
  const part = (selector) => {
    const found = all.find((element) => element.matches(selector));
    return found === undefined ? null : `${Math.round(found.getBoundingClientRect().height)}px`;
  };
  // The widest column of a page that does not fill its window, and the largest grid.
  const limited = all.find((element) => {
    const { maxWidth } = getComputedStyle(element);
    return maxWidth.endsWith("px") && parseFloat(maxWidth) >= 600 && element.getBoundingClientRect().height > 100;
  });
  const columns = all
    .map((element) => getComputedStyle(element))
    .filter((style) => style.display.endsWith("grid"))
    .map((style) => style.gridTemplateColumns.split(" ").filter((track) => /^[0-9.]+px$/.test(track)).length);
  const grid = clean({
    columns: columns.length > 0 ? Math.max(...columns) || null : null,
    maxWidth: limited === undefined ? null : getComputedStyle(limited).maxWidth,
  });
  const words = document.body.innerText.slice(0, 100000);
  const emoji = (words.match(/\p{Emoji_Presentation}/gu) ?? []).length;
  const title = document.title.split(/\s+[|–—·-]\s+/);
  return {
    colorScheme: luminance(background) < 0.5 ? "dark" : "light",
    brandName: meta("og:site_name", "application-name") ?? (title.length > 1 ? title[title.length - 1] : null),
    logo,
    fonts: most(fonts).slice(0, 10).map((family) => ({ family })),
    colors: clean({
      primary,
      secondary: named("secondary") ?? others[0],
      accent: named("accent") ?? others[1] ?? link,
      background,
      textPrimary: textColors[0] ?? hex(body.color),
      textSecondary: textColors[1],
      link,
      success: named("success"),
      warning: named("warning"),
      error: named("error", "danger"),
    }),
    typography: {
      fontFamilies: clean({
        primary: families(text)[0],
        heading: heading === null ? null : families(heading)[0],
        code: code === null ? null : families(code)[0],
      }),
      fontStacks: clean({ body: families(text), heading: heading === null ? null : families(heading) }),
      fontSizes: clean({
        h1: size("h1")?.fontSize,
        h2: size("h2")?.fontSize,
        h3: size("h3")?.fontSize,
        body: text.fontSize,
      }),
      lineHeights: clean({ heading: heading === null ? null : height(heading), body: height(text) }),
      fontWeights: clean({ heading: heading === null ? null : Number(heading.fontWeight), body: Number(text.fontWeight) }),
    },
    spacing: clean({ borderRadius: components.buttonPrimary?.borderRadius }),
    components,
    icons: clean({ style: most(iconStyles)[0], primaryColor: most(iconColors)[0] }),
    animations: clean({ transitionDuration: most(durations)[0], easing: most(easings)[0] }),
    layout: clean({
      grid: Object.keys(grid).length > 0 ? grid : null,
      headerHeight: part("header, [role=banner]"),
      footerHeight: part("footer, [role=contentinfo]"),
    }),
    tone: { emojiUsage: emoji === 0 ? "none" : emoji < 5 || emoji * 500 < words.length ? "minimal" : "frequent" },
    images: clean({ logo, favicon: icon, ogImage: image === null ? null : absolute(image) }),
  };
}
