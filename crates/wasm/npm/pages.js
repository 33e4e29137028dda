// pages.wasm: conversion of pages, and the crawl. Loaded only when one of them is used.
import * as glue from './pages_glue.js';
import { Loader } from './loader.js';

export const pages = /* @__PURE__ */ new Loader(glue, 'pages.wasm');
