/** The compiled module, where wasm files can be imported. */
declare const module: typeof globalThis extends { WebAssembly: { Module: abstract new (...args: any) => infer Type } } ? Type : unknown;
export default module;
