// Applies the stored color scheme and density before the first paint; by default the system's scheme applies.
try {
  var theme = JSON.parse(localStorage.getItem("harvestman:theme:1"));
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (JSON.parse(localStorage.getItem("harvestman:density:1")) === "compact") document.documentElement.dataset.density = "compact";
} catch (e) { /* no storage: the system's scheme applies */ }
