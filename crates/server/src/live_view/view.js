// The live view: draws the frames that arrive and, with control, sends pointer and keyboard inputs. Pointer positions
// are sent as fractions of the picture, so that this code does not need the size of the page.

import { listen } from './input.js';
import { recorder } from './record.js';

const root = document.documentElement;
const element = (id) => document.getElementById(id);
const picture = element('picture');
const surface = picture.getContext('2d', { alpha: false });
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 8000;
const NOTICE_MS = 6000;

let socket = null;
let retryDelay = FIRST_RETRY_MS;
let control = false;
let tabs = { tabs: [], current: '' };

const theme = new URLSearchParams(location.search).get('theme');
if (theme === 'dark' || theme === 'light') root.dataset.theme = theme;

/** Sends one input. Inputs without a connection are dropped: they would arrive too late. */
function transmit(input) {
    if (control && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(input));
}

const record = recorder(transmit, shownUrl);

function send(input) {
    if (record.observe(input)) transmit(input);
}

const inputs = listen({ picture, keys: element('keys'), list: element('list'), send, notify });

function show(state, text) {
    root.dataset.state = state;
    element('state').textContent = text;
    element('over').hidden = state !== 'ended';
    if (state !== 'live') inputs.closeList();
}

function connect() {
    const address = new URL(location.pathname.replace(/([^/]+)\/*$/, 'sockets/$1'), location.href);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    socket = new WebSocket(address);
    socket.binaryType = 'blob';
    socket.onmessage = ({ data }) => (typeof data === 'string' ? receive(JSON.parse(data)) : draw(data));
    socket.onclose = async ({ code, reason }) => {
        if (code === 1000) return end();
        show('connecting', 'Reconnecting');
        if (code === 1013) notify(reason);
        // The close code does not say whether the session has ended; the page's status does.
        const response = await fetch(location.pathname, { method: 'HEAD' }).catch(() => null);
        if (response?.status === 404) return end();
        setTimeout(connect, retryDelay);
        retryDelay = Math.min(2 * retryDelay, MAX_RETRY_MS);
    };
}

function end() {
    show('ended', 'Ended');
    control = false;
    delete root.dataset.control;
    showDialog();
    element('address').readOnly = true;
    showTabs();
}

function receive(message) {
    switch (message.type) {
        case 'hello':
            retryDelay = FIRST_RETRY_MS;
            control = message.control;
            root.toggleAttribute('data-control', control);
            element('mode').hidden = false;
            element('mode').textContent = control ? 'You have control' : 'View only';
            element('address').readOnly = !control;
            element('keys').tabIndex = control ? 0 : -1;
            show('live', 'Live');
            break;
        case 'tabs':
            tabs = message;
            showTabs();
            showDialog(tabs.dialog);
            break;
        case 'select':
            inputs.openList(message);
            break;
        case 'element':
            record.inspected(message);
            break;
        case 'copied':
            inputs.copied(message.text);
            break;
        case 'notice':
            notify(message.text);
            break;
    }
}

// --- frames: only the newest one that is not drawn yet is kept

let waiting = null;
let drawing = false;

async function draw(blob) {
    waiting = blob;
    if (drawing) return;
    drawing = true;
    while (waiting) {
        const next = waiting;
        waiting = null;
        const bitmap = await createImageBitmap(next).catch(() => null);
        if (!bitmap) continue;
        if (picture.width !== bitmap.width || picture.height !== bitmap.height) {
            picture.width = bitmap.width;
            picture.height = bitmap.height;
        }
        surface.drawImage(bitmap, 0, 0);
        bitmap.close();
        picture.dataset.drawn = '';
    }
    drawing = false;
}

// --- tabs and address bar

const blank = (url) => url === '' || url === 'about:blank';

const currentTab = () => tabs.tabs.find((tab) => tab.id === tabs.current);

/** Returns the URL of the current tab; an empty page has none. */
function shownUrl() {
    const url = currentTab()?.url ?? '';
    return blank(url) ? '' : url;
}

function showTabs() {
    const current = currentTab();
    const address = element('address');
    if (document.activeElement !== address || address.readOnly) {
        address.value = shownUrl();
    }
    address.placeholder = control ? 'Enter a URL' : 'Empty page';
    element('picture').setAttribute('aria-label', `The browser's page: ${current?.title || current?.url || 'empty'}`);
    const row = element('tabs');
    row.hidden = tabs.tabs.length < 2;
    row.replaceChildren(...tabs.tabs.map(tabElement));
    row.querySelector('[data-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

function tabElement(tab) {
    const current = tab.id === tabs.current;
    const name = Object.assign(document.createElement('button'), {
        className: 'name',
        textContent: tab.title || (blank(tab.url) ? 'New tab' : tab.url),
        title: tab.url,
        disabled: !control,
        onclick: () => send({ type: 'tab', id: tab.id }),
    });
    name.setAttribute('role', 'tab');
    name.setAttribute('aria-selected', String(current));
    const part = document.createElement('span');
    part.className = 'tab';
    part.toggleAttribute('data-current', current);
    part.append(name);
    if (control) {
        const close = Object.assign(document.createElement('button'), {
            className: 'close',
            textContent: '×',
            title: 'Close tab',
            onclick: () => send({ type: 'closeTab', id: tab.id }),
        });
        close.setAttribute('aria-label', `Close ${name.textContent}`);
        part.append(close);
    }
    return part;
}

// --- dialogs of the page

let shownDialog = '';

function showDialog(dialog) {
    const now = dialog ? JSON.stringify(dialog) : '';
    if (now === shownDialog) return;
    shownDialog = now;
    element('ask').hidden = !dialog;
    if (!dialog) return;
    const leaves = dialog.kind === 'beforeunload';
    element('question').textContent = leaves ? 'Leave this page? Changes you made may not be saved.' : dialog.message;
    element('said').hidden = dialog.kind !== 'prompt' || !control;
    element('said').value = dialog.text;
    element('yes').textContent = leaves ? 'Leave' : 'OK';
    element('no').textContent = leaves ? 'Stay' : 'Cancel';
    element('no').hidden = dialog.kind === 'alert';
    if (control) (element('said').hidden ? element('yes') : element('said')).focus();
}

function closeDialog(accept) {
    send({ type: 'dialog', accept, text: element('said').value });
    element('ask').hidden = true;
    element('keys').focus({ preventScroll: true });
}

element('ask').onsubmit = (event) => {
    event.preventDefault();
    closeDialog(true);
};
element('ask').onkeydown = (event) => event.key === 'Escape' && closeDialog(false);
element('no').onclick = () => closeDialog(false);

let noticeTimer = 0;
function notify(text) {
    const notice = element('notice');
    notice.textContent = text;
    notice.hidden = false;
    clearTimeout(noticeTimer);
    noticeTimer = setTimeout(() => { notice.hidden = true; }, NOTICE_MS);
}

for (const [id, type] of [['back', 'back'], ['forward', 'forward'], ['reload', 'reload'], ['new', 'newTab']]) {
    element(id).onclick = () => send({ type });
}
element('address').onfocus = () => control && element('address').select();
element('address').onblur = showTabs;
element('go').onsubmit = (event) => {
    event.preventDefault();
    send({ type: 'go', url: element('address').value });
    element('keys').focus();
};

connect();
