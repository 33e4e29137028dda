//! Chromium over CDP: the seam. Rendering, actions, sessions and live view come here; until then the
//! server says for every option that needs a browser that none is configured.
