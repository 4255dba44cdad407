// The bar, the navigation and the state of saving, around every page.

import * as summaries from "./apps.js";
import { Icon, Mark, Sign } from "./icons.js";
import { session } from "./session.js";
import { html, Note, save, Dialog, toasts, told, useEffect, useObserved, useState } from "./ui.js";
import { day, language, number, size, spoken, t, time } from "./words.js";

/** The name of an app, short enough for the navigation. */
export const appName = (pack) => spoken(summaries[pack.name]?.names) ?? pack.title ?? pack.name;
export const appIcon = (pack) => summaries[pack.name]?.icon ?? "other";

/** The apps of the space; the engine's own pack is none. */
export const apps = () => (session.declared ?? []).filter((pack) => pack.name !== "engine");

/** The other of the two languages, at a press. */
export function LanguageButton({ className = "text" }) {
  const other = language.tag === "en" ? "it" : "en";
  const press = () => {
    language.tag = other;
    session.changed();
  };
  return html`<button class=${className} lang=${other} onClick=${press}>
    <${Icon} name="globe" />${t("otherLanguage")}</button>`;
}

export const theme = {
  get chosen() {
    return localStorage.getItem("diario.theme") ?? "system";
  },
  set chosen(value) {
    if (value === "system") localStorage.removeItem("diario.theme");
    else localStorage.setItem("diario.theme", value);
    dispatchEvent(new Event("diario-theme"));
    session.changed();
  },
  get isDark() {
    return document.documentElement.dataset.theme === "dark";
  },
};

function ThemeButton() {
  const press = () => {
    theme.chosen = theme.isDark ? "light" : "dark";
  };
  return html`<button class="icon" onClick=${press}
    aria-label=${t(theme.isDark ? "toLight" : "toDark")}>
    <${Icon} name=${theme.isDark ? "sun" : "moon"} /></button>`;
}

// ---- The state of saving ----

function Saving() {
  const [isOpen, open] = useState(false);
  const { state, tone = "", short, long, count } = session.saving;
  return html`
    <button class="saving ${tone}" onClick=${() => open(true)} aria-label=${t("stateOf", long)}>
      <${Sign} state=${state} />
      <span class="words short">${short}</span><span class="words long">${long}</span>
      ${count > 0 && html`<span class="count">${number(count)}</span>`}
    </button>
    <span class="hidden" role="status">${long}</span>
    ${isOpen && html`<${SavingPanel} onClose=${() => open(false)} />`}`;
}

/** What is pending, as lines of JSON, for people. */
export async function pendingEvents() {
  const lines = await (await session.diary.export({ pending: true })).text();
  return lines.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** Gives what is only here to the person, as a file that `diario import` takes. */
export async function downloadPending() {
  save(await session.diary.export({ pending: true }), `${session.space.name}-pending.jsonl`);
}

/** What is pending, a line each. */
export function PendingList({ most = 5 }) {
  const [events, take] = useState();
  const { pending } = session.status ?? {};
  useEffect(() => {
    pendingEvents().then(take, () => take([]));
  }, [pending]);
  if (!events?.length) return null;
  return html`<ul class="rows small">
    ${events.slice(0, most).map((event) => html`<li class="row thin">
      <${Sign} state="here" width="22" />
      <span class="words"><${TypeName} name=${event.type} /></span>
      <time class="value" datetime=${event.at}>${time(event.at)}</time></li>`)}
    </ul>
    ${events.length > most && html`<p class="help">${t("andMore", events.length - most)}</p>`}`;
}

/** The name of a type: the pack is quiet. */
export function TypeName({ name }) {
  const dot = name.indexOf(".") + 1;
  return html`<span><span class="quiet">${name.slice(0, dot)}</span>${name.slice(dot)}</span>`;
}

function SavingPanel({ onClose }) {
  const { status } = session;
  const { pending = 0, head = 0, lastError, inbox = 0, saved, usage, quota } = status ?? {};
  const [problem, report] = useState();
  const sendNow = async () => {
    try {
      await session.diary.sync();
      session.look();
    } catch (error) {
      report(told(error));
    }
  };
  const { state } = session.saving;
  const unsaved = t(session.isFull ? "full" : "notSaved");
  const title = { paused: t("panelPaused"), unsaved }[state]
    ?? (pending > 0 ? t("panelHere", pending) : t("panelAll"));
  return html`<${Dialog} label=${title} isPanel onClose=${onClose}>
    ${state !== "paused" && !session.isFull && html`<p class="small quiet">
      ${t(pending > 0 ? "panelHereMore" : "panelAllMore")}</p>`}
    ${session.isFull && html`<${Note} tone="bad">${t("panelFull")}<//>`}
    ${saved === "no" && html`<${Note} tone="warning" title=${t("notKept")}>${t("notKeptMore")}<//>`}
    ${(lastError || problem) && html`<${Note} tone=${state === "paused" ? "warning" : ""}
      icon=${state === "paused" ? "warn" : "clock"}>${problem ?? lastError}<//>`}
    <div class="places">
      <div><span class="dot full"></span><b class="small">${t("thisDevice")}</b>
        <div class="number">${number(head + pending)}</div>
        ${usage !== undefined && html`<div class="small quiet">
          ${t("of", size(usage), size(quota))}</div>`}</div>
      <div class="between ${pending === 0 ? "whole" : ""}"></div>
      <div><span class="dot ${pending === 0 ? "full" : ""}"></span>
        <b class="small">${t("server")}</b>
        <div class="number">${number(head)}</div>
        <div class="small quiet">
          ${session.heard ? t("heardAt", time(session.heard)) : t("notHeard")}</div></div>
    </div>
    ${pending > 0 && html`<${PendingList} />`}
    <div class="buttons">
      ${state === "paused"
        ? html`<a class="button main" href="#/sign-in" onClick=${onClose}>${t("newToken")}</a>`
        : pending > 0 && html`<button class="main" onClick=${sendNow}>
            <${Icon} name="send" />${t("sendNow")}</button>`}
      ${inbox > 0 && html`<a class="button" href="#/inbox" onClick=${onClose}>
        ${t("refused", inbox)}</a>`}
      ${pending > 0 && html`<button onClick=${downloadPending}>
        <${Icon} name="download" />${t("downloadN", pending)}</button>`}
    </div><//>`;
}

// ---- Around a page ----

function Tab({ href, icon, name, isHere, className = "" }) {
  return html`<a href=${href} class=${className} aria-current=${isHere ? "page" : undefined}>
    <${Icon} name=${icon} /><span>${name}</span></a>`;
}

/** The notes that stand above every page while they hold. */
function Notes() {
  const { status, isBusy, isOutdated, problem, newVersion } = session;
  return html`
    ${newVersion && html`<${Note} icon="send" title=${t("newVersion")}>
      <button class="text" onClick=${newVersion}>${t("reload")}</button><//>`}
    ${status?.saved === "no" && html`<${Note} tone="warning" title=${t("notKept")}>
      ${t("notKeptMore")}<//>`}
    ${isOutdated && html`<${Note} tone="warning">${t("outdated")}<//>`}
    ${isBusy && html`<${Note} icon="clock" title=${t("busyTab")}>${t("busyTabMore")}<//>`}
    ${problem && html`<${Note} tone="bad">${problem}<//>`}`;
}

/** `place` is where one is, as `{ name, href }`, the last one being the page itself. */
export function Frame({ route, place, children }) {
  useObserved(session);
  useEffect(() => {
    document.title = [...place.map(({ name }) => name).reverse(), "Diario"].join(" \u00b7 ");
  });
  const [root, ...deeper] = place;
  const isHome = route[0] === "";
  return html`<a class="skip" href="#content" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("content").focus();
    }}>${t("skip")}</a>
    <div class="frame">
    <nav class="tabs" aria-label=${t("navigation")}>
      <div class="brand"><${Mark} />Diario</div>
      <${Tab} href="/#/" icon="apps" name=${t("home")} isHere=${isHome} />
      <div class="group">${t("apps")}</div>
      ${apps().map((pack) => html`<${Tab} key=${pack.name} href=${`/#/app/${pack.name}`}
        icon=${appIcon(pack)} name=${appName(pack)} className="only-side"
        isHere=${route[0] === "app" && route[1] === pack.name} />`)}
      <${Tab} href="/inspect#/log" icon="log" name=${t("inspector")} className="last"
        isHere=${location.pathname === "/inspect"} />
      <${Tab} href="/#/spaces" icon="spaces" name=${t("spaces")} isHere=${route[0] === "spaces"} />
      <${Tab} href="/#/settings" icon="settings" name=${t("settings")}
        isHere=${route[0] === "settings"} />
    </nav>
    <header class="bar">
      <a class="icon home" href="/#/" aria-label=${t("home")}><${Icon} name="apps" /></a>
      <span class="place">${deeper.length === 0
        ? root.name
        : html`<a href=${root.href}>${root.name}</a>
          ${deeper.map(({ name }) => html`<span class="deep">
            <span class="quiet" aria-hidden="true"> / </span>${name}</span>`)}`}</span>
      <${Saving} />
      <span class="wide"><${LanguageButton} /><${ThemeButton} /></span>
      <a class="icon" href="/#/settings" aria-label=${t("account")}><${Icon} name="person" /></a>
    </header>
    <main id="content" tabindex="-1"><${Notes} />${children}</main>
  </div>`;
}

/** The day, as a head has it. */
export const today = () => day(Date.now());
export { toasts };
