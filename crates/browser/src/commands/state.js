function (what) {
  // Returns whether the element is visible, enabled, checked or attached.
  const element = this.localName === "label" && this.control && what !== "visible" ? this.control : this;
  switch (what) {
    case "attached":
      return element.isConnected;
    case "visible":
      return element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
    case "enabled":
      return !element.matches(":disabled") && !element.closest("[aria-disabled=true]");
    default:
      return "checked" in element ? element.checked : element.getAttribute("aria-checked") === "true";
  }
}
