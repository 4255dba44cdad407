// The diary in the browser, at an address that stays: what it is made of is below another one in
// each version.
export * from "./web/VERSION/diario.js";
