// The language of the pages, and how they write numbers and times.

import { english, italian } from "./texts.js";

const all = { en: english, it: italian };

/** The language of the pages: what was chosen, else the first of the browser's that is here. */
export const language = {
  get tag() {
    const chosen = localStorage.getItem("diario.language");
    if (all[chosen]) return chosen;
    const known = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => all[tag]);
    return known ?? "en";
  },
  set tag(tag) {
    localStorage.setItem("diario.language", tag);
    document.documentElement.lang = tag;
  },
};

/** A text, with what it is about. */
export function t(key, ...values) {
  const text = all[language.tag][key];
  return typeof text === "function" ? text(...values) : text;
}

/** The texts of a thing that has some by language. */
export const spoken = (texts) => texts?.[language.tag] ?? texts?.en;

/** With a capital letter first. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** With the habits of the person's country, if the browser tells them for this language. */
const locale = () => navigator.languages.find((tag) => tag.startsWith(language.tag)) ?? language.tag;

export const number = (value, options) => value.toLocaleString(locale(), options);
export const time = (date) =>
  new Date(date).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
export const day = (date, options = { weekday: "long", day: "numeric", month: "long" }) =>
  new Date(date).toLocaleDateString(locale(), options);

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
