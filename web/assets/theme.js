// Applies the chosen colour scheme before the first paint; without a choice the system's scheme holds.
try {
  var theme = JSON.parse(localStorage.getItem("harvestman:theme:1"));
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch (e) { /* no storage: the system's scheme holds */ }
