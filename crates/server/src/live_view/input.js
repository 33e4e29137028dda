// Translates pointer and keyboard events on the picture into inputs for the remote browser.

const TOUCH_SLOP_PX = 8;
const LINE_PX = 40;

/**
 * Listens on `picture` and on `keys`, an invisible field that receives all typing so that input methods and phone
 * keyboards work. `list` is the element that shows the options of select lists.
 */
export function listen({ picture, keys, list, send, notify }) {
    const modifiers = (event) => {
        // Command on a Mac is Control in the remote browser.
        const control = event.ctrlKey || event.metaKey;
        return (event.altKey ? 1 : 0) + (control ? 2 : 0) + (event.shiftKey ? 8 : 0);
    };

    /** Returns the part of the canvas that the picture fills: centred, at the top. */
    function box() {
        const outer = picture.getBoundingClientRect();
        const scale = Math.min(outer.width / picture.width, outer.height / picture.height) || 1;
        const [width, height] = [picture.width * scale, picture.height * scale];
        return { left: outer.left + (outer.width - width) / 2, top: outer.top, width, height };
    }

    function position(event) {
        const { left, top, width, height } = box();
        return { x: (event.clientX - left) / width, y: (event.clientY - top) / height };
    }

    // --- pointer; moves and wheel turns are sent at most once per animation frame

    let move = null;
    let turn = null;
    let frameRequested = false;

    function later() {
        if (frameRequested) return;
        frameRequested = true;
        requestAnimationFrame(flush);
    }

    function flush() {
        frameRequested = false;
        if (move) send(move);
        if (turn) send(turn);
        move = null;
        turn = null;
    }

    function mouse(kind, event, clicks) {
        return {
            type: 'mouse', kind, ...position(event), button: Math.max(event.button, 0), buttons: event.buttons & 7,
            clicks, modifiers: modifiers(event),
        };
    }

    function wheel(at, dx, dy, held) {
        turn = { type: 'wheel', ...at, dx: (turn?.dx ?? 0) + dx, dy: (turn?.dy ?? 0) + dy, modifiers: held };
        later();
    }

    let clicks = { count: 0, button: -1, time: 0, x: 0, y: 0 };
    function count(event) {
        const again = event.button === clicks.button && event.timeStamp - clicks.time < 400
            && Math.hypot(event.clientX - clicks.x, event.clientY - clicks.y) < 5;
        const number = again ? (clicks.count % 3) + 1 : 1;
        clicks = { count: number, button: event.button, time: event.timeStamp, x: event.clientX, y: event.clientY };
    }

    let finger = null;

    picture.addEventListener('pointerdown', (event) => {
        event.preventDefault();
        const open = !list.hidden;
        closeList();
        keys.focus({ preventScroll: true });
        if (open) return;
        picture.setPointerCapture(event.pointerId);
        count(event);
        if (event.pointerType === 'touch') {
            finger = { x: event.clientX, y: event.clientY, moved: false };
            return;
        }
        flush();
        send(mouse('down', event, clicks.count));
    });
    picture.addEventListener('pointermove', (event) => {
        if (finger) {
            const [dx, dy] = [finger.x - event.clientX, finger.y - event.clientY];
            finger.moved ||= Math.hypot(dx, dy) > TOUCH_SLOP_PX;
            if (finger.moved) {
                const scale = picture.width / box().width;
                wheel(position(event), dx * scale, dy * scale, 0);
                Object.assign(finger, { x: event.clientX, y: event.clientY });
            }
            return;
        }
        move = mouse('move', event, 0);
        later();
    });
    picture.addEventListener('pointerup', (event) => {
        flush();
        if (finger) {
            const tapped = !finger.moved;
            finger = null;
            if (!tapped) return;
            send({ ...mouse('move', event, 0), buttons: 0 });
            send({ ...mouse('down', event, clicks.count), buttons: 1 });
        }
        send(mouse('up', event, clicks.count));
    });
    picture.addEventListener('pointercancel', () => { finger = null; });
    picture.addEventListener('contextmenu', (event) => event.preventDefault());
    picture.addEventListener('wheel', (event) => {
        event.preventDefault();
        const unit = [1, LINE_PX, picture.height][event.deltaMode];
        wheel(position(event), event.deltaX * unit, event.deltaY * unit, modifiers(event));
    }, { passive: false });

    // --- keyboard

    function key(kind, event) {
        return {
            type: 'key', kind, key: event.key === 'Meta' ? 'Control' : event.key, code: event.code,
            keyCode: event.keyCode & 255, modifiers: modifiers(event), repeat: event.repeat,
        };
    }

    /** Returns whether this browser must handle the event itself: composition in an input method, or the clipboard. */
    function ours(event) {
        const clipboard = (event.ctrlKey || event.metaKey) && !event.altKey && 'cvx'.includes(event.key.toLowerCase());
        return event.isComposing || event.key === 'Process' || event.key === 'Dead' || event.key === 'Unidentified' || clipboard;
    }

    keys.addEventListener('keydown', (event) => {
        if (event.key === 'Escape' && event.shiftKey) {
            keys.blur();
            document.getElementById('address').focus();
            event.preventDefault();
            return;
        }
        if (!list.hidden) return chooseByKey(event);
        if (ours(event)) return;
        event.preventDefault();
        send(key('down', event));
    });
    keys.addEventListener('keyup', (event) => {
        if (list.hidden && !ours(event)) send(key('up', event));
    });
    keys.addEventListener('input', (event) => {
        if (event.isComposing) return;
        write();
    });
    keys.addEventListener('compositionend', write);
    function write() {
        if (keys.value) send({ type: 'text', text: keys.value });
        keys.value = '';
    }
    keys.addEventListener('paste', (event) => {
        event.preventDefault();
        const text = event.clipboardData.getData('text/plain');
        if (text) send({ type: 'text', text });
    });
    let copying = false;
    for (const type of ['copy', 'cut']) {
        keys.addEventListener(type, (event) => {
            if (copying) return;
            event.preventDefault();
            send({ type: 'copy' });
            if (type === 'cut') {
                for (const kind of ['down', 'up']) send({ type: 'key', kind, key: 'Delete', code: 'Delete', keyCode: 46 });
            }
        });
    }

    /** Writes the copied text to the clipboard. `execCommand` also works in frames that may not use the newer API. */
    function copied(text) {
        copying = true;
        keys.value = text;
        keys.select();
        if (!document.execCommand('copy')) notify('The browser does not allow access to the clipboard.');
        keys.value = '';
        copying = false;
    }

    // --- select lists, which the remote browser does not paint

    let choices = [];
    let at = -1;

    function openList({ options, selected, at: corner, size }) {
        choices = [];
        list.replaceChildren();
        let group = '';
        options.forEach((option, index) => {
            if (option.group !== group) {
                group = option.group;
                if (group) list.append(Object.assign(document.createElement('li'), { className: 'group', textContent: group }));
            }
            const item = Object.assign(document.createElement('li'), {
                textContent: option.label || ' ',
                className: group ? 'inner' : '',
            });
            item.setAttribute('role', 'option');
            item.setAttribute('aria-selected', String(index === selected));
            item.setAttribute('aria-disabled', String(option.disabled));
            if (!option.disabled) {
                const number = choices.push({ item, index }) - 1;
                item.onpointerdown = (event) => event.preventDefault();
                item.onpointermove = () => mark(number, false);
                item.onclick = () => choose(number);
            }
            list.append(item);
        });
        const stage = list.parentElement.getBoundingClientRect();
        const inner = box();
        const left = inner.left - stage.left + corner.x * inner.width;
        const under = inner.top - stage.top + (corner.y + size.y) * inner.height;
        list.hidden = false;
        list.style.minWidth = `${size.x * inner.width}px`;
        list.style.left = `${Math.max(4, Math.min(left, stage.width - list.offsetWidth - 12))}px`;
        list.style.top = `${Math.max(4, Math.min(under, stage.height - list.offsetHeight - 12))}px`;
        mark(Math.max(0, choices.findIndex(({ index }) => index === selected)), true);
        keys.focus({ preventScroll: true });
        if (options.length === 0) notify('This list is empty.');
    }

    function mark(number, scroll) {
        choices[at]?.item.removeAttribute('data-at');
        at = Math.max(0, Math.min(number, choices.length - 1));
        choices[at]?.item.setAttribute('data-at', '');
        if (scroll) choices[at]?.item.scrollIntoView({ block: 'nearest' });
    }

    function choose(number) {
        const choice = choices[number];
        closeList();
        if (choice) send({ type: 'choose', index: choice.index });
    }

    function closeList() {
        list.hidden = true;
        choices = [];
        at = -1;
    }

    function chooseByKey(event) {
        event.preventDefault();
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };
        if (event.key in steps) mark(at + steps[event.key], true);
        else if (event.key === 'Enter' || event.key === ' ' || event.key === 'Tab') choose(at);
        else if (event.key === 'Escape') closeList();
        else if (event.key.length === 1) {
            const wanted = event.key.toLowerCase();
            const order = [...choices.keys()].map((number) => (number + at + 1) % choices.length);
            const found = order.find((number) => choices[number].item.textContent.toLowerCase().startsWith(wanted));
            if (found !== undefined) mark(found, true);
        }
    }

    return { openList, closeList, copied };
}
