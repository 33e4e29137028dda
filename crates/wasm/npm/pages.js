// pages.wasm: conversion of pages. Loaded only when one is converted.
import * as glue from './pages_glue.js';
import { Loader } from './loader.js';

export const pages = /* @__PURE__ */ new Loader(glue, 'pages.wasm', '`await ready()` first (`await initPages(...)` with harvestman/slim)');
