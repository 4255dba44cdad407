// The parts that all pages are made of.

import {
  html, render, useEffect, useLayoutEffect, useMemo, useRef, useState,
} from "../preact.js";
import { Icon } from "./icons.js";
import { number, t } from "./words.js";

export { html, render, useEffect, useLayoutEffect, useMemo, useRef, useState };

/** Something that changes, and whoever wants to know. */
export class Observed {
  #listeners = new Set();

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed() {
    for (const listener of this.#listeners) listener();
  }
}

/** Draws again whenever the thing changes. */
export function useObserved(observed) {
  const [, draw] = useState(0);
  useEffect(() => observed.subscribe(() => draw((count) => count + 1)), [observed]);
  return observed;
}

let lastID = 0;
export const useID = () => useMemo(() => `i${(lastID += 1)}`, []);

// ---- Fields ----

export function Label({ text, isOptional }) {
  return html`${text}${isOptional && html` <span class="optional">(${t("optional")})</span>`}`;
}

/** A label, something to fill in, help, and what is wrong with it. */
export function Field({ label, help, error, unit, isOptional, action, children, id }) {
  const own = useID();
  const name = id ?? own;
  const input = children({
    id: name,
    "aria-describedby": `${name}-help`,
    "aria-invalid": error ? "true" : undefined,
  });
  return html`<div class="field ${error ? "wrong" : ""}">
    <label for=${name}><${Label} text=${label} isOptional=${isOptional} /></label>
    <div class="box">${input}${unit && html`<span class="unit">${unit}</span>`}${action}</div>
    <${Below} id=${name} error=${error} help=${help} />
  </div>`;
}

/** What stands below a field. */
export function Below({ id, error, help }) {
  return html`<div id=${`${id}-help`} aria-live="polite">
    ${error && html`<p class="error"><${Icon} name="warn" size="16" /><span>${error}</span></p>`}
    ${help && html`<p class="help">${help}</p>`}
  </div>`;
}

/** A choice of few: radio buttons side by side, or below one another if they are long. */
export function Choice({ label, options, value, onChange, isOptional, error, help }) {
  const id = useID();
  return html`<fieldset class="field ${error ? "wrong" : ""}" aria-describedby=${`${id}-help`}>
    <legend><${Label} text=${label} isOptional=${isOptional} /></legend>
    <div class="choice">
      ${options.map(
        (option) => html`<label key=${option.value}>
          <input type="radio" name=${id} value=${option.value} checked=${option.value === value}
            onChange=${() => onChange(option.value)} />
          <span>${option.label}</span></label>`,
      )}
    </div>
    <${Below} id=${id} error=${error} help=${help} />
  </fieldset>`;
}

export function Check({ label, value, onChange, help }) {
  return html`<label class="check field">
    <input type="checkbox" checked=${value ?? false}
      onChange=${(event) => onChange(event.currentTarget.checked)} />
    <span>${label}${help && html`<span class="help" style="display:block">${help}</span>`}</span>
  </label>`;
}

// ---- Rows and tables ----

export function Row({ href, icon, name, more, value, onClick, children }) {
  const inner = html`
    ${icon && html`<span class="picture"><${Icon} name=${icon} /></span>`}
    <span class="words"><span class="name">${name}</span>
      ${more && html`<span class="more">${more}</span>`}</span>
    ${value && html`<span class="value">${value}</span>`}
    ${children}
    ${(href || onClick) && html`<${Icon} name="next" />`}`;
  if (href) return html`<li><a class="row" href=${href}>${inner}</a></li>`;
  if (onClick) return html`<li><button class="row" onClick=${onClick}>${inner}</button></li>`;
  return html`<li class="row">${inner}</li>`;
}

const isNumber = (value) => typeof value === "number" || typeof value === "bigint";
const compared = new Intl.Collator(undefined, { numeric: true });

/** Nothing first, then numbers, then texts. */
function compare(a, b) {
  if (a == null || b == null) return (a == null ? 0 : 1) - (b == null ? 0 : 1);
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  return compared.compare(String(a), String(b));
}

const PAGE = 200;

/**
 * A table with heads that sort. `columns` are `{ name, label, show }`; more than a page of rows
 * is drawn once asked for.
 */
export function Table({ label, columns, rows }) {
  const [sorted, sort] = useState({});
  const [count, show] = useState(PAGE);
  const ordered = useMemo(() => {
    if (!sorted.by) return rows;
    const sign = sorted.isDown ? -1 : 1;
    return [...rows].sort((a, b) => sign * compare(a[sorted.by], b[sorted.by]));
  }, [rows, sorted]);
  const numeric = new Set(
    columns.filter(({ name }) => rows.some((row) => isNumber(row[name]))).map(({ name }) => name),
  );
  const press = (name) =>
    sort({ by: name, isDown: sorted.by === name ? !sorted.isDown : numeric.has(name) });
  const direction = (name) => {
    if (sorted.by !== name) return undefined;
    return sorted.isDown ? "descending" : "ascending";
  };
  return html`<div class="table" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${columns.map(({ name, label: head }) => html`
        <th key=${name} scope="col" class=${numeric.has(name) ? "number" : ""}
          aria-sort=${direction(name)}>
          <button onClick=${() => press(name)} aria-label=${t("sortBy", head)}>${head}
            ${sorted.by === name
              && html`<${Icon} name=${sorted.isDown ? "down" : "up"} size="16" />`}
          </button></th>`)}</tr></thead>
      <tbody>${ordered.slice(0, count).map((row, index) => html`
        <tr key=${index}>${columns.map(({ name, show: shown }) => html`
          <td class=${numeric.has(name) ? "number" : ""}>${(shown ?? cell)(row[name])}</td>`)}
        </tr>`)}</tbody>
    </table></div>
    ${rows.length > count && html`<p class="help">${t("shown", number(count), number(rows.length))}
      <button class="text" onClick=${() => show(count + 5 * PAGE)}>${t("more")}</button></p>`}`;
}

/** What stands where nothing is: not the same as zero. */
export const DASH = "\u2013";

/** A value as a cell has it: nothing is a dash, and no zero. */
export function cell(value) {
  if (value === null || value === undefined) return DASH;
  if (value === true || value === false) return t(value ? "yes" : "no");
  if (isNumber(value)) return number(value, { maximumFractionDigits: 6, useGrouping: "min2" });
  return String(value);
}

// ---- What floats ----

/** A dialog: the focus stays in it, and Escape closes it. */
export function Dialog({ label, isPanel, onClose, children }) {
  const ref = useRef();
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog.showModal();
    return () => before?.focus?.();
  }, []);
  const press = (event) => {
    if (event.target === ref.current) onClose();
  };
  return html`<dialog ref=${ref} class=${isPanel ? "panel" : ""} aria-label=${label}
    onClose=${onClose} onClick=${press}>
    <div class="top"><h2>${label}</h2>
      <button class="icon" aria-label=${t("close")} onClick=${onClose}><${Icon} name="close" />
      </button></div>
    ${children}</dialog>`;
}

class Toasts extends Observed {
  shown = [];

  /** Says something for ten seconds; `undo` takes it back. */
  say(text, action) {
    const toast = { text, action };
    this.shown = [...this.shown.slice(-2), toast];
    this.changed();
    setTimeout(() => this.remove(toast), 10_000);
  }

  remove(toast) {
    this.shown = this.shown.filter((other) => other !== toast);
    this.changed();
  }
}

export const toasts = new Toasts();

export function ToastList() {
  useObserved(toasts);
  return html`<div class="toasts" role="status" aria-live="polite">${toasts.shown.map(
    (toast) => html`<div class="toast"><span>${toast.text}</span>
      ${toast.action && html`<button onClick=${() => {
        toast.action.run();
        toasts.remove(toast);
      }}>${toast.action.label}</button>`}
      <button class="icon" aria-label=${t("close")} style="color:inherit"
        onClick=${() => toasts.remove(toast)}><${Icon} name="close" /></button></div>`,
  )}</div>`;
}

// ---- Notes and states ----

export function Note({ tone = "", icon = "warn", title, children }) {
  return html`<div class="note ${tone}" role=${tone === "bad" ? "alert" : "note"}>
    <${Icon} name=${icon} /><div class="grow">${title && html`<b>${title} </b>`}${children}</div>
  </div>`;
}

/** A page that has nothing to show, or cannot show it: what happened, and what to do. */
export function State({ icon, sign, title, more, details, children }) {
  const copy = () => {
    navigator.clipboard?.writeText(`${title}\n${more ?? ""}\n${details}`);
    toasts.say(t("copied"));
  };
  return html`<div class="state">
    ${sign ?? html`<${Icon} name=${icon} size="36" />`}
    <h1>${title}</h1>${more && html`<p>${more}</p>`}
    <div class="buttons stack">${children}
      ${details && html`<button onClick=${copy}><${Icon} name="copy" />${t("copy")}</button>`}</div>
    ${details && html`<pre>${details}</pre>`}
  </div>`;
}

export function Progress({ label, done, of }) {
  const value = of ? done : undefined;
  return html`<progress aria-label=${label} max=${of ?? undefined} value=${value} />`;
}

/** Gives bytes to the person, as a file. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** What failed, in words: what the engine says, and what to do. */
export const told = (error) =>
  error.remedy && !error.message.includes(error.remedy)
    ? `${error.message} ${error.remedy}`
    : error.message;
