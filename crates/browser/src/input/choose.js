(index) => {
    const select = globalThis.harvestmanSelect;
    const option = select?.isConnected && !select.disabled && select.options[index];
    if (!option || option.disabled || select.selectedIndex === index) return;
    select.selectedIndex = index;
    select.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    select.dispatchEvent(new Event('change', { bubbles: true }));
}
