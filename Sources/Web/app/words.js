// The language of the pages, and how they write numbers and times.

import { texts } from "./texts.js";

/** The language of the pages: what was chosen, else the first of the browser's that is here. */
export const language = {
  get tag() {
    const chosen = localStorage.getItem("diario.language");
    if (texts[chosen]) return chosen;
    const known = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => texts[tag]);
    return known ?? "en";
  },
  set tag(tag) {
    localStorage.setItem("diario.language", tag);
    document.documentElement.lang = tag;
  },
};

/** A text of texts/LANGUAGE.json; `{0}` and `{1}` in it are the values, and 1 has its own words. */
export function t(key, ...values) {
  let text = texts[language.tag][key];
  if (text.other) text = values[0] === 1 ? text.one : text.other;
  if (Array.isArray(text)) text = text.join(" ");
  return text.replaceAll(/\{(\d)\}/g, (_, index) => values[index]);
}

/** The texts of a thing that has some by language. */
export const spoken = (texts) => texts?.[language.tag] ?? texts?.en;

/** With a capital letter first. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** With the habits of the person's country, if the browser tells them for this language. */
const locale = () =>
  navigator.languages.find((tag) => tag.startsWith(language.tag)) ?? language.tag;

export const number = (value, options) => value.toLocaleString(locale(), options);
export const time = (date) =>
  new Date(date).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
export const day = (date, options = { weekday: "long", day: "numeric", month: "long" }) =>
  new Date(date).toLocaleDateString(locale(), options);

/** How many rows, and of what: `1 draft`. */
export const count = ({ length }, one, other) => `${number(length)} ${length === 1 ? one : other}`;

/** The day where the person is, as the log has days. */
export function localDay() {
  const now = new Date();
  return new Date(now - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** Bytes as people read them: 18 MB. */
export function size(bytes) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const power = Math.max(0, Math.min(3, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return number(value, {
    style: "unit",
    unit: units[power],
    maximumFractionDigits: power > 0 && value < 10 ? 1 : 0,
  });
}
