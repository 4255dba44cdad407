// A form made of a schema: fields in people's units, checked while one types.

import { session } from "./session.js";
import { Below, Check, Choice, DASH, Field, html, Label, useID, useState } from "./ui.js";
import { day, language, number, sentence, spoken, t } from "./words.js";

// Integers are kept in small units, by the end of their names; people use larger ones.
const units = [
  ["MicroG", "g", 6], ["Mkcal", "kcal", 3], ["Mdeg", "\u00b0", 3], ["Mpx", "px", 3],
  ["Um", "mm", 3], ["E7", "\u00b0", 7], ["Mg", "g", 3],
];
const plainUnits = { G: "g", Px: "px", Ms: "ms", Mm: "mm", Pct: "%" };

export function unitOf(name, schema) {
  if (schema.type === "integer") {
    const unit = units.find(([end]) => name.endsWith(end) && name.length > end.length);
    if (unit) return { symbol: unit[1], places: unit[2] };
  }
  const plain = Object.keys(plainUnits).find((end) => name.endsWith(end) && name !== end);
  return { symbol: plain && plainUnits[plain], places: 0 };
}

/** `weightG` as a label: Weight. */
export function titleOf(name, schema) {
  const title = typeof schema.title === "object" ? spoken(schema.title) : undefined;
  if (title) return title;
  const unit = units.find(([end]) => name.endsWith(end) && name.length > end.length);
  const short = unit ? name.slice(0, -unit[0].length) : name;
  return plainTitle(short);
}

/** `minSizeKind` as words: Min size kind. */
export function plainTitle(name) {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
  return sentence(words);
}

const helpOf = (schema) =>
  typeof schema.description === "object" ? spoken(schema.description) : schema.description;

/** A decimal number as a whole one of a unit that is `places` smaller; undefined if it is none. */
export function scaled(text, places) {
  const found = /^\s*(-?)(\d*)(?:[.,](\d*))?\s*$/.exec(text);
  if (!found || (found[2] === "" && !found[3])) return undefined;
  const fraction = (found[3] ?? "").replace(/0+$/, "");
  if (fraction.length > places) return undefined;
  const value = BigInt((found[2] || "0") + fraction.padEnd(places, "0"));
  return found[1] ? -value : value;
}

/** The other way round: as people write it. */
export function unscaled(value, places) {
  const options = { maximumFractionDigits: places, useGrouping: false };
  return number(Number(value) / 10 ** places, options);
}

/** A number within what the schema allows, or what is wrong with it. */
function readNumber(text, name, schema) {
  const { places } = unitOf(name, schema);
  let value;
  if (schema.type === "integer") {
    value = scaled(text, places);
    if (value === undefined) return { error: t(places > 0 ? "badNumber" : "badWhole") };
  } else {
    value = Number(text.replace(",", "."));
    if (!Number.isFinite(value)) return { error: t("badNumber") };
  }
  const { minimum: first, maximum: last } = schema;
  if ((first !== undefined && value < first) || (last !== undefined && value > last)) {
    const shown = (bound) => bound !== undefined && unscaled(bound, places);
    const [low, high] = [shown(first), shown(last)];
    if (first === undefined) return { error: t("badMost", high) };
    return { error: last === undefined ? t("badLeast", low) : t("badRange", low, high) };
  }
  const isSafe = typeof value !== "bigint" || Number.isSafeInteger(Number(value));
  return { value: isSafe ? Number(value) : value };
}

function readText(text, schema) {
  if (schema.maxLength !== undefined && [...text].length > schema.maxLength) {
    return { error: t("badLength", schema.maxLength) };
  }
  if (schema.format === "date" && !/^\d{4}-\d\d-\d\d$/.test(text)) return { error: t("badDate") };
  if (schema.format === "date-time") {
    const time = new Date(text);
    return Number.isNaN(time.getTime()) ? { error: t("badTime") } : { value: time.toISOString() };
  }
  let pattern;
  try {
    pattern = schema.pattern && new RegExp(schema.pattern, "u");
  } catch {
    // Of another kind than the browser's; the engine checks it.
  }
  return pattern && !pattern.test(text) ? { error: t("badPattern") } : { value: text };
}

function readJSON(text) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { error: t("badJSON") };
  }
}

/** What one value of a schema is, of what was typed; `undefined` is nothing. */
function readValue(typed, name, schema) {
  if (typeof typed === "boolean") return { value: typed };
  if (schema.enum) return { value: schema.enum.find((value) => String(value) === typed) };
  if (schema.type === "integer" || schema.type === "number") return readNumber(typed, name, schema);
  if (schema.type === "string") return readText(typed, schema);
  return readJSON(typed);
}

const isList = (schema) =>
  schema.type === "array" && ["string", "integer", "number"].includes(schema.items?.type);
const isGroup = (schema) => schema.type === "object" && Boolean(schema.properties);
/** A part of a picture's reference, which the engine fills in. */
const isBlobPart = (name, schema) =>
  schema.contentEncoding === "base64" || /(Id|Size|Type|Key)$/.test(name) && schema.enum?.some(
    (value) => String(value).startsWith("image/"));

/**
 * The payload of what was typed, and what is wrong by the paths of fields: `{ value, errors }`.
 * What is empty is left out.
 */
export function readForm(schema, typed, path = "") {
  const value = {};
  const errors = {};
  const required = new Set(schema.required ?? []);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const place = path ? `${path}.${name}` : name;
    if (isGroup(field)) {
      const inner = readForm(field, typed[name] ?? {}, place);
      const isEmpty = Object.keys(inner.value).length === 0;
      // An optional group that nobody began lacks nothing.
      const lacksOnly = Object.values(inner.errors).every((error) => error === t("missing"));
      if (isEmpty && !required.has(name) && lacksOnly) continue;
      value[name] = inner.value;
      Object.assign(errors, inner.errors);
      continue;
    }
    const given = typed[name];
    if (given === undefined || given === "") {
      if (required.has(name)) errors[place] = t("missing");
      continue;
    }
    if (isList(field)) {
      const parts = given.split("\n").map((part) => part.trim()).filter((part) => part !== "");
      const read = parts.map((part) => readValue(part, name, field.items));
      const wrong = read.find(({ error }) => error);
      if (wrong) errors[place] = wrong.error;
      else value[name] = read.map((part) => part.value);
      continue;
    }
    const read = readValue(given, name, field);
    if (read.error) errors[place] = read.error;
    else value[name] = read.value;
  }
  return { value, errors };
}

// ---- Drawing ----

/** The fields of a schema. `errors` are shown once a field was left, or all with `showAll`. */
export function Fields({ schema, typed, onType, errors, showAll, path = "" }) {
  const [left, leave] = useState(new Set());
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([name, field]) => !isBlobPart(name, field),
  );
  return fields.map(([name, field]) => {
    const place = path ? `${path}.${name}` : name;
    const set = (value) => onType({ ...typed, [name]: value });
    const common = {
      key: place,
      name,
      schema: field,
      value: typed[name],
      onChange: set,
      isOptional: !required.has(name),
      error: (showAll || left.has(name)) && errors[place],
      onLeave: () => typed[name] && leave(new Set([...left, name])),
    };
    if (!isGroup(field)) return html`<${Input} ...${common} />`;
    return html`<fieldset class="group-box" key=${place}>
      <legend class="label">${titleOf(name, field)}${!required.has(name) && html`
        <span class="optional"> (${t("optional")})</span>`}</legend>
      <div class="form"><${Fields} schema=${field} typed=${typed[name] ?? {}} onType=${set}
        errors=${errors} showAll=${showAll} path=${place} /></div></fieldset>`;
  });
}

/** More than these side by side are hard to read. */
const CHOICE_LETTERS = 28;

/** A value of a choice in words: those of the pack, if it has some for just these values. */
function wordFor(value, schema) {
  for (const pack of session.declared ?? []) {
    const types = (pack.texts[language.tag] ?? pack.texts.en)?.types ?? {};
    const words = Object.values(types).find((known) => schema.enum.every((one) => known[one]));
    if (words) return sentence(words[value]);
  }
  return plainTitle(String(value));
}

/** What is said below a field. */
function hint(name, schema, value) {
  const parts = [helpOf(schema)];
  const { symbol, places } = unitOf(name, schema);
  if (schema["x-diario-id"] === "new") parts.push(t("drawn"));
  else if (symbol && schema.minimum !== undefined && schema.maximum !== undefined) {
    const [low, high] = [schema.minimum, schema.maximum].map((bound) => unscaled(bound, places));
    parts.push(`${low} \u2013 ${high} ${symbol}.`);
  }
  if (isList(schema)) parts.push(t("listHelp"));
  else if (!schema.enum && !["string", "integer", "number"].includes(schema.type)) {
    parts.push(t("jsonHelp"));
  }
  return parts.filter(Boolean).join(" ");
}

function Input({ name, schema, value, onChange, isOptional, error, onLeave }) {
  const label = titleOf(name, schema);
  const help = hint(name, schema, value);
  const common = { label, help, error, isOptional };
  if (schema.type === "boolean") {
    return html`<${Check} label=${label} value=${value} onChange=${onChange} help=${help} />`;
  }
  const options = schema.enum?.map((one) => ({ value: String(one), label: wordFor(one, schema) }));
  if (options && options.map(({ label: word }) => word).join("").length <= CHOICE_LETTERS
    && options.length <= 3) {
    return html`<${Choice} ...${common} options=${options} value=${value} onChange=${onChange} />`;
  }
  if (name.endsWith("Mask") && schema.maximum === 4095) {
    return html`<${Months} ...${common} value=${value} onChange=${onChange} />`;
  }
  const take = (event) => onChange(event.currentTarget.value);
  const { symbol } = unitOf(name, schema);
  return html`<${Field} ...${common} unit=${symbol}>${(given) => {
    const all = { ...given, value: value ?? "", onInput: take, onBlur: onLeave };
    if (schema.enum) {
      return html`<select ...${all}><option value="">${isOptional ? DASH : t("choose")}</option>
        ${options.map((one) => html`<option value=${one.value}>${one.label}</option>`)}</select>`;
    }
    if (schema.format === "date") return html`<input type="date" ...${all} />`;
    if (schema.format === "date-time") {
      return html`<input type="datetime-local" step="1" ...${all} />`;
    }
    if (schema.type === "integer" || schema.type === "number") {
      return html`<input inputmode="decimal" autocomplete="off" ...${all} />`;
    }
    if (schema.type === "string" && (schema.maxLength ?? 0) <= 200) {
      return html`<input autocomplete="off" ...${all} />`;
    }
    return html`<textarea ...${all}></textarea>`;
  }}<//>`;
}

/** Twelve months as the bits of a number. */
function Months({ label, help, error, isOptional, value, onChange }) {
  const id = useID();
  const mask = Number(value || 0);
  const name = (month) => day(Date.UTC(2026, month, 15), { month: "short" });
  return html`<fieldset class="field whole" aria-describedby=${`${id}-help`}>
    <legend><${Label} text=${label} isOptional=${isOptional} /></legend>
    <div class="months">${Array.from({ length: 12 }, (_, month) => html`<label>
      <input type="checkbox" checked=${Boolean(mask & (1 << month))}
        onChange=${() => onChange(String(mask ^ (1 << month)))} />${name(month)}</label>`)}</div>
    <${Below} id=${id} error=${error} help=${help} /></fieldset>`;
}
