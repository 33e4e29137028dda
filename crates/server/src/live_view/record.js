// Reports the user's input in the live view as steps, and the element that the user picks, to the page that embeds the
// view. Accepts and sends messages only within the same origin.

/** `transmit` sends an input to the server; `shownUrl` returns the URL of the page. */
export function recorder(transmit, shownUrl) {
    const root = document.documentElement;
    let recording = false;
    let began = false;
    let picking = false;
    let written = '';
    // Steps in order; `null` stands for a click whose element is not known yet.
    let steps = [];

    const post = (message) => parent.postMessage({ from: 'live-view', ...message }, location.origin);

    function add(step) {
        if (written) steps.push({ type: 'write', text: written });
        written = '';
        if (step !== undefined) steps.push(step);
        flush();
    }

    /** Reports the steps before the first `null`. */
    function flush() {
        while (steps.length > 0 && steps[0] !== null) post({ type: 'step', step: steps.shift() });
    }

    addEventListener('message', ({ origin, source, data }) => {
        if (origin !== location.origin || source !== parent || parent === window) return;
        if (data?.type === 'record') {
            add();
            recording = data.on === true;
            began = false;
        } else if (data?.type === 'pick') {
            picking = data.on === true;
            root.toggleAttribute('data-picking', picking);
        }
    });

    function key({ key: name, modifiers }) {
        const isText = name.length === 1 && (modifiers & 7) === 0;
        if (isText) written += name;
        else if (name === 'Backspace' && written) written = written.slice(0, -1);
        else if (!['Shift', 'Control', 'Alt', 'Meta'].includes(name) && (modifiers & 7) === 0) add({ type: 'press', key: name });
    }

    /** Records an input. Returns whether to send it. */
    function observe(input) {
        const isPress = input.type === 'mouse' && input.kind === 'down' && input.button === 0;
        if (picking && input.type === 'mouse') {
            if (isPress) transmit({ type: 'inspect', x: input.x, y: input.y });
            return input.kind === 'move';
        }
        if (!recording) return true;
        if (!began) post({ type: 'began', url: shownUrl() });
        began = true;
        if (isPress) {
            add(null);
            transmit({ type: 'inspect', x: input.x, y: input.y });
        } else if (input.type === 'key' && input.kind === 'down') key(input);
        else if (input.type === 'text') written += input.text;
        else if (input.type === 'choose' || input.type === 'go') add(input);
        else if (input.type === 'wheel' && Math.abs(input.dy) > Math.abs(input.dx)) add({ type: 'scroll', down: input.dy > 0 });
        else if (['back', 'forward', 'reload'].includes(input.type)) add({ type: input.type });
        return true;
    }

    /** Handles the response to an `inspect`; without a selector there was no element. */
    function inspected({ selector, name }) {
        if (picking) {
            picking = false;
            root.removeAttribute('data-picking');
            post({ type: 'picked', selector, name });
            return;
        }
        const at = steps.indexOf(null);
        if (at < 0) return;
        steps.splice(at, 1, ...(selector ? [{ type: 'click', selector, name }] : []));
        flush();
    }

    return { observe, inspected };
}
