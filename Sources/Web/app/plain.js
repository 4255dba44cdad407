// The page of an app that has none of its own: its queries as tables, what it does as forms.

import { appName, apps, TypeName } from "./frame.js";
import { Fields, plainTitle, readForm, titleOf, unitOf, unscaled } from "./form.js";
import { Icon } from "./icons.js";
import { session } from "./session.js";
import {
  cell, DASH, Field, html, Note, Row, save, Table, toasts, told, useEffect, useMemo, useState,
} from "./ui.js";
import { language, localDay, sentence, spoken, t } from "./words.js";

/** The words for a value of a named type. */
function wordFor(pack, type, value) {
  return (pack.texts[language.tag] ?? pack.texts.en)?.types?.[type]?.[value] ?? value;
}

/** The label of a column or of a parameter, by the texts of the pack; some have help beside it. */
function labelFor(pack, name) {
  const found = (pack.texts[language.tag] ?? pack.texts.en)?.fields?.[name];
  return found?.title ?? found ?? titleOf(name, { type: "integer" });
}

/** Whether this token may record an event of a type, as the server said last. */
export function mayRecord(types) {
  const { rights = [], roles = [] } = session.status ?? {};
  if (!rights.includes("append")) return t("needsAppend");
  for (const type of types) {
    if (!type.roles || type.author || rights.includes("admin")) continue;
    if (!type.roles.some((role) => roles.includes(role))) {
      return t("mayNotRoles", type.roles.map((role) => role.split(".")[1]).join(", "));
    }
  }
  return undefined;
}

// ---- What there is ----

/** More than these are looked through by typing. */
const FEW = 12;

/** Without marks and capitals, so that `perche` finds what is written with an accent. */
const folded = (text) => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();

export function AppPage({ pack }) {
  const [wanted, want] = useState("");
  const short = (name) => name.slice(pack.name.length + 1);
  const item = (kind, name, text) => ({
    href: `/#/app/${pack.name}/${kind}/${name}`, name: text, more: name,
  });
  const declared = (kind) => pack.commands.filter((one) => one.kind === kind);
  const commands = declared("command");
  const sections = [
    ["queries", pack.queries.map(({ name, title }) => item("query", name, sentence(title)))],
    ["actions", commands.map(({ name, description }) =>
      item("do", short(name), spoken(description)))],
    ["records", commands.length > 0 ? [] : pack.types.map(({ name, schema }) =>
      item("record", short(name), schema.description ?? short(name)))],
    ["views", declared("view").map(({ name, description }) =>
      item("view", short(name), spoken(description)))],
  ];
  const count = sections.reduce((sum, [, items]) => sum + items.length, 0);
  const found = sections.map(([title, items]) => [title, items.filter(({ name, more }) =>
    folded(`${name} ${more}`).includes(folded(wanted)))]).filter(([, items]) => items.length > 0);
  return html`<div class="column"><h1>${appName(pack)}</h1>
    <p class="lead">${pack.description}</p>
    ${count > FEW && html`<${Field} label=${t("find")}>${(given) => html`
      <input type="search" autocomplete="off" ...${given} value=${wanted}
        onInput=${(event) => want(event.currentTarget.value)} />`}<//>`}
    ${found.map(([title, items]) => html`<${Section} key=${title} title=${t(title)}
      items=${items} />`)}
    <p class="quiet section" role="status">${found.length === 0 && t("noRows")}</p></div>`;
}

function Section({ title, items }) {
  return html`<section class="section"><h2>${title}</h2><ul class="rows">${items.map(
    (item) => html`<${Row} key=${item.href} ...${item} />`)}</ul></section>`;
}

// ---- A query ----

/** What a parameter is filled with before anybody types. */
function usual({ name, type, default: fallback }) {
  if (fallback !== undefined) return "";
  const local = localDay();
  if (name === "user" || name === "actor") return session.status?.actor ?? "";
  if (name === "first") return `${local.slice(0, 4)}-01-01`;
  if (type === "DATE") return local;
  if (type === "Month") return String(Number(local.slice(5, 7)));
  if (type === "Year" || name === "year") return local.slice(0, 4);
  return "";
}

/** The values that another query has for a parameter: the first column is kept, a name is shown. */
function useSources(pack, parameters) {
  const [found, take] = useState({});
  const names = [...new Set(parameters.map(({ of }) => of).filter(Boolean))];
  useEffect(() => {
    const stops = names.map((name) => {
      const source = pack.queries.find((query) => query.name === name);
      const asksNothing = source?.parameters.every((other) => other.default !== undefined);
      if (!asksNothing) return () => {};
      return session.diary.live(`${pack.name}.${name}`, {}, (rows) => take((before) => ({
        ...before, [name]: rows.map((row) => option(row)),
      })));
    });
    return () => stops.forEach((stop) => stop());
  }, [pack.name, String(names)]);
  return found;
}

function option(row) {
  const [value] = Object.values(row);
  const lang = language.tag;
  const label = (lang === "it" ? row.nameIt ?? row.titleIt : row.nameEn ?? row.titleEn)
    ?? row.nameIt ?? row.name ?? row.title ?? value;
  return { value: String(value), label: String(label) };
}

function Parameter({ pack, parameter, value, onChange, options }) {
  const { name, type, default: fallback, of } = parameter;
  const label = labelFor(pack, name);
  const named = pack.named?.[type];
  const isOptional = fallback !== undefined;
  const usualText = fallback && fallback !== "NULL" ? fallback.replaceAll("'", "") : undefined;
  const help = usualText && usualText !== "*" ? `= ${usualText}` : "";
  const choices = named?.enum?.map((one) => ({ value: one, label: wordFor(pack, type, one) }))
    ?? (of && options[of])
    ?? (type === "BOOLEAN" && [{ value: "0", label: t("no") }, { value: "1", label: t("yes") }]);
  const take = (event) => onChange(event.currentTarget.value);
  return html`<${Field} label=${label} isOptional=${isOptional} help=${help}>${(given) => {
    const all = { ...given, value, onInput: take };
    if (choices) {
      return html`<select ...${all}><option value="">${isOptional ? DASH : t("choose")}</option>
        ${choices.map((one) => html`<option value=${one.value}>${sentence(one.label)}</option>`)}
      </select>`;
    }
    if (type === "DATE") return html`<input type="date" ...${all} />`;
    const isNumber = ["INTEGER", "REAL"].includes(type) || named?.type === "integer";
    const mode = isNumber ? "decimal" : undefined;
    return html`<input inputmode=${mode} autocomplete="off" ...${all} />`;
  }}<//>`;
}

/** The address keeps what is asked for, so that it can be shared and reloaded. */
const addressOf = (typed) => {
  const set = Object.entries(typed).filter(([, value]) => value !== "");
  return set.length > 0 ? `?${new URLSearchParams(set)}` : "";
};

export function QueryPage({ pack, query, search }) {
  const [typed, type] = useState(() => {
    const given = new URLSearchParams(search);
    return Object.fromEntries(
      query.parameters.map((one) => [one.name, given.get(one.name) ?? usual(one)]),
    );
  });
  const [answer, take] = useState({});
  const options = useSources(pack, query.parameters);
  const asked = JSON.stringify(typed);
  const lacks = query.parameters.some(
    (one) => one.default === undefined && typed[one.name] === "",
  );
  useEffect(() => {
    const path = location.hash.replace(/\?.*/, "");
    history.replaceState(null, "", path + addressOf(typed));
    if (lacks) return take({});
    const set = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ""));
    let stop;
    // Who types is not asked for each letter.
    const timer = setTimeout(() => {
      stop = session.diary.live(`${pack.name}.${query.name}`, set,
        (rows) => take({ rows }), (error) => take({ error }));
    }, 150);
    return () => {
      clearTimeout(timer);
      stop?.();
    };
  }, [asked, pack.name, query.name]);
  const { rows, error } = answer;
  const columns = useMemo(() => columnsOf(pack, query, rows), [rows, pack, query]);
  return html`<h1>${sentence(query.title)}</h1>
    ${query.parameters.length > 0 && html`<form class="form" onSubmit=${(event) =>
      event.preventDefault()}>${query.parameters.map((one) => html`
      <${Parameter} key=${one.name} pack=${pack} parameter=${one} value=${typed[one.name]}
        options=${options} onChange=${(value) => type({ ...typed, [one.name]: value })} />`)}
      </form>`}
    <div role="status" aria-live="polite">
      ${error && html`<${Note} tone="bad">${told(error)}<//>`}
      ${rows && html`<p class="section quiet">${t("rows", rows.length)}
        ${rows.length > 0 && html`<button class="text" onClick=${() => csv(query, columns, rows)}>
          <${Icon} name="download" />${t("csv")}</button>`}</p>`}
    </div>
    ${rows?.length > 0
      && html`<${Table} label=${sentence(query.title)} columns=${columns} rows=${rows} />`}
    ${rows?.length === 0 && html`<p class="quiet">${t("noRows")}. ${t("noRowsMore")}</p>`}`;
}

function columnsOf(pack, query, rows = []) {
  const declared = Object.fromEntries((query.answers ?? []).map((one) => [one.name, one.type]));
  return Object.keys(rows[0] ?? {}).map((name) => {
    const type = declared[name];
    const { symbol, places } = unitOf(name, { type: "integer" });
    const show = (value) => {
      if (places > 0 && typeof value === "number") return unscaled(value, places);
      if (type === "BOOLEAN" && typeof value === "number") return t(value === 1 ? "yes" : "no");
      if (pack.named?.[type]?.enum) return value === null ? DASH : wordFor(pack, type, value);
      return cell(value);
    };
    const label = labelFor(pack, name);
    return { name, label: places > 0 ? `${label} (${symbol})` : label, show };
  });
}

/** As other programs take it: names and values as they are kept. */
function csv(query, columns, rows) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map(({ name }) => name), ...rows.map((row) =>
    columns.map(({ name }) => row[name]))];
  const text = lines.map((line) => line.map(quoted).join(",")).join("\r\n");
  save(new Blob([text, "\r\n"], { type: "text/csv" }), `${query.name}.csv`);
}

// ---- A form ----

/** Something to fill in: a command, a view, or an event of a type. */
export function FormPage({ pack, kind, name, schema, title, description, types }) {
  const [typed, type] = useState({});
  const [isTried, tried] = useState(false);
  const [answer, take] = useState();
  const { value, errors } = useMemo(() => readForm(schema, typed), [schema, typed]);
  const wrong = Object.keys(errors).length;
  // What the rules of the pack say of a field stands beside it, until it is changed.
  const ruled = answer?.error?.field in (schema.properties ?? {})
    && typed === answer.typed && { [answer.error.field]: told(answer.error) };
  const refusal = kind === "view" ? undefined : mayRecord(types);
  const failed = (error) => take({ error, typed });
  const call = async (isDry) => {
    tried(true);
    take(undefined);
    if (wrong > 0) {
      document.querySelector(".wrong input, .wrong select, .wrong textarea")?.focus();
      return;
    }
    const options = { language: language.tag };
    try {
      if (kind === "view") {
        take({ result: await session.diary.view(name, value, options) });
      } else if (kind === "record") {
        await session.recording((diary) => diary.record(name, value, { actor: actor() }));
        done(1);
      } else if (isDry) {
        take({ dry: await session.diary.run(name, value, { ...options, dryRun: true }) });
      } else {
        const told = await session.recording((diary) => diary.run(name, value, options));
        take({ done: told });
        done(told.events.length);
      }
    } catch (error) {
      failed(error);
    }
  };
  const done = (count) => {
    toasts.say(count > 0 ? t("recorded", count) : t("nothingToDo"));
    if (count > 0) {
      type({});
      tried(false);
    }
  };
  const main = { view: "calculate", record: "recordIt", do: "doIt" }[kind];
  return html`<div class="column"><h1>${title}</h1>
    ${description && html`<p class="lead">${description}</p>`}
    ${refusal && html`<${Note} tone="warning">${t("mayNot")} ${refusal}<//>`}
    <form novalidate onSubmit=${(event) => {
      event.preventDefault();
      call(false);
    }}>
      <div class="form"><${Fields} schema=${schema} typed=${typed} onType=${type}
        errors=${{ ...errors, ...ruled }} showAll=${isTried} /></div>
      <div class="buttons"><button class="main" disabled=${Boolean(refusal)}>${t(main)}</button>
        ${kind === "do" && html`<button type="button" onClick=${() => call(true)}>
          ${t("tryIt")}</button>`}</div>
      ${isTried && wrong > 0 && html`<p class="error" role="alert">
        <${Icon} name="warn" size="16" />${t("fieldsWrong", wrong)}</p>`}
    </form>
    <div role="status" aria-live="polite"><${Outcome} answer=${answer} /></div></div>`;
}

const actor = () => session.status?.actor;

function Outcome({ answer }) {
  if (!answer) return null;
  const { error, result, dry, done } = answer;
  if (error) return html`<${Note} tone="bad">${told(error)}<//>`;
  const events = (dry ?? done)?.events ?? [];
  const shown = result ?? (dry ?? done).result;
  return html`<section class="section">
    ${(dry || done) && html`<h2>${t(dry ? "wouldRecord" : "recordedNow")}</h2>
      ${events.length === 0 && html`<p class="quiet">${t("nothingToDo")}</p>`}
      <ul class="rows small">${events.map((event) => html`<li class="row thin">
        <span class="words"><${TypeName} name=${event.type} /></span></li>`)}</ul>`}
    ${shown && Object.keys(shown).length > 0 && html`<h2>${t("answerOf")}</h2>
      <${Values} value=${shown} />`}</section>`;
}

/** An answer as a list of names and values. */
export function Values({ value }) {
  if (Array.isArray(value)) {
    return html`<ul>${value.map((item) => html`<li><${Values} value=${item} /></li>`)}</ul>`;
  }
  if (value === null || typeof value !== "object") return html`<span>${cell(value)}</span>`;
  return html`<dl class="values">${Object.entries(value).map(([name, item]) => html`
    <div><dt>${plainTitle(name)}</dt><dd><${Values} value=${item} /></dd></div>`)}</dl>`;
}

// ---- Where one is ----

/** `#/app/PACK`, and below it `/query/NAME`, `/do/NAME`, `/record/NAME`, `/view/NAME`. */
export function appRoute([, name, kind, item], search) {
  const pack = apps().find((one) => one.name === name);
  if (!pack) return undefined;
  const root = { name: appName(pack), href: `/#/app/${pack.name}` };
  if (!kind) return { place: [root], page: html`<${AppPage} pack=${pack} />` };
  const key = `${name}/${kind}/${item}`;
  const full = `${name}.${item}`;
  if (kind === "query") {
    const query = pack.queries.find((one) => one.name === item);
    return query && {
      place: [root, { name: sentence(query.title) }],
      page: html`<${QueryPage} key=${key} pack=${pack} query=${query} search=${search} />`,
    };
  }
  if (kind === "record") {
    const type = pack.types.find((one) => one.name === full);
    return type && {
      place: [root, { name: item }],
      page: html`<${FormPage} key=${key} pack=${pack} kind="record" name=${full}
        schema=${type.schema} title=${item} description=${type.schema.description}
        types=${[type]} />`,
    };
  }
  const declared = pack.commands.find((one) => one.name === full);
  if (!declared || !["do", "view"].includes(kind)) return undefined;
  const types = (declared.events ?? []).map((event) =>
    pack.types.find((type) => type.name === event)).filter(Boolean);
  return {
    place: [root, { name: item }],
    page: html`<${FormPage} key=${key} pack=${pack} kind=${kind} name=${full}
      schema=${declared.input} title=${spoken(declared.description)} types=${types} />`,
  };
}
