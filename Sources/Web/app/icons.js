// Icons of 20 pixels, drawn with one stroke; and the sign of two dots.

import { html } from "./ui.js";

const circle = "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15z";
const paths = {
  apps: "M3 3h5v5H3zM12 3h5v5h-5zM3 12h5v5H3zM12 12h5v5h-5z",
  back: "M12.5 4 6.5 10l6 6",
  next: "M7.5 4l6 6-6 6",
  check: "M4 10.5l4 4 8-9",
  close: "M5 5l10 10M15 5 5 15",
  copy: "M7 7h9v9H7zM4 13V4h9",
  download: "M10 3v10M6 9.5l4 4 4-4M3.5 17h13",
  globe: `${circle}M2.5 10h15M10 2.5c-5 5-5 10 0 15 5-5 5-10 0-15z`,
  inbox: "M3 11l2-7h10l2 7v5H3zM3 11h4l1 2h4l1-2h4",
  log: "M8 4h9M8 10h7M8 16h9M4 3v14M2.5 4h3M2.5 10h3M2.5 16h3",
  menu: "M4 10h.1M10 10h.1M16 10h.1",
  moon: "M16.5 12A7 7 0 1 1 8 3.5a5.5 5.5 0 0 0 8.5 8.5z",
  paste: "M7 4H5v13h10V4h-2M7 3h6v3H7z",
  person: "M10 3.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 17c0-3.5 2.5-5 6-5s6 1.5 6 5",
  plus: "M10 4v12M4 10h12",
  rule: "M2.5 7h15v6h-15zM6 7v3M10 7v3M14 7v3",
  send: "M15.5 6.5A6.5 6.5 0 0 0 4 8M4.5 13.5A6.5 6.5 0 0 0 16 12M16 3v4h-4M4 17v-4h4",
  settings:
    "M3 6h9M16 6h1M3 14h1M8 14h9M14 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4z"
    + "M6 12a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  shield: "M10 2.5l6 2V10c0 4-2.5 6.5-6 7.5C6.5 16.5 4 14 4 10V4.5zM7 10l2 2 4-4",
  sort: "M6 8l4-4 4 4M6 12l4 4 4-4",
  spaces: "M2.5 4h12v3M2.5 4v9H11M6 16h5M11.5 8.5h6V17h-6z",
  sun:
    "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18"
    + "M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1",
  table: "M3 4h14v12H3zM3 8h14M3 12h14M8 8v8",
  undo: "M4 8h8a4 4 0 0 1 0 8H8M4 8l4-4M4 8l4 4",
  up: "M5 12l5-5 5 5",
  down: "M5 8l5 5 5-5",
  warn: "M10 3l8 14H2zM10 8v4M10 14.5v.1",
  clock: `${circle}M10 5.5V10l3 2`,
  other: "M4 4h12v12H4zM7.5 8h5M7.5 12h5",
};

/** By its name, or as a path of its own. */
export function Icon({ name, size = 20 }) {
  return html`<svg width=${size} height=${size} viewBox="0 0 20 20" fill="none"
    stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"
    aria-hidden="true"><path d=${paths[name] ?? name} /></svg>`;
}

/** What is drawn between the dots. */
const between = {
  both: "M8 6h10",
  here: "",
  sending: "M9.5 6h6M13.5 3.5 16 6l-2.5 2.5",
  offline: "M14.5 1.5l-4 9",
  paused: "M11 2.5v7M14.5 2.5v7",
  refused: "M10 3.5l5 5M15 3.5l-5 5",
  unsaved: "",
};

/** Two dots: the left one is this device, the right one the server; filled means it is there. */
export function Sign({ state, width = 26 }) {
  const left =
    state === "unsaved"
      ? html`<circle cx="5" cy="6" r="3.5" stroke-dasharray="2 1.6" />`
      : html`<circle cx="5" cy="6" r="4" fill="currentColor" stroke="none" />`;
  const right =
    state === "both"
      ? html`<circle cx="21" cy="6" r="4" fill="currentColor" stroke="none" />`
      : html`<circle cx="21" cy="6" r="3.5" />`;
  return html`<svg width=${width} height=${(width * 12) / 26} viewBox="0 0 26 12" fill="none"
    stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"
    aria-hidden="true">${left}<path d=${between[state]} />${right}</svg>`;
}

/** The mark of Diario: its sign on a tile. */
export function Mark({ size = 28 }) {
  return html`<svg width=${size} height=${size} viewBox="0 0 28 28" aria-hidden="true">
    <rect width="28" height="28" rx="7" fill="var(--n9)" />
    <g stroke="var(--n1)" stroke-width="1.8"><path d="M9 14h7" />
      <circle cx="9" cy="14" r="3" fill="var(--n1)" /><circle cx="19" cy="14" r="3" fill="none" />
    </g></svg>`;
}
