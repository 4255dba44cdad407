// The spaces on this device, and what is chosen for the pages.

import { appName, downloadPending, PendingList, theme } from "./frame.js";
import { Icon } from "./icons.js";
import { session } from "./session.js";
import { SpaceSign } from "./sign-in.js";
import {
  Choice, Dialog, html, Note, Progress, Row, save, toasts, told, useEffect, useState,
} from "./ui.js";
import { language, number, size, t } from "./words.js";

export function Spaces() {
  const [asked, ask] = useState();
  return html`<div class="column"><h1>${t("spaces")}</h1>
    <ul class="rows section">${session.spaces.map((space) => html`
      <${Row} key=${space.name} name=${space.name} more=${space.actor}>
        <${SpaceSign} space=${space} />
        ${space === session.space
          ? html`<span class="value">${t("isOpen")}</span>`
          : html`<button class="text" onClick=${() => session.choose(space.name)}>${t("open")}
            </button>`}
        <button class="icon" aria-label=${`${t("remove")}: ${space.name}`}
          onClick=${() => ask(space)}><${Icon} name="close" /></button><//>`)}</ul>
    <div class="buttons"><a class="button" href="#/sign-in"><${Icon} name="plus" />
      ${t("addSpace")}</a></div>
    ${asked && html`<${RemoveDialog} space=${asked} onClose=${() => ask(undefined)} />`}</div>`;
}

/** The blobs that are on no other device. */
async function stayingBlobs() {
  const all = await session.diary.blobs.status();
  return all.filter(({ stays, isRecordedHere, state }) => stays && isRecordedHere
    && state === "here");
}

async function downloadPictures(blobs) {
  for (const { id } of blobs) {
    const picture = await session.diary.blobs.get(id);
    const end = picture.type.split("/")[1] ?? "bin";
    save(picture, `${id.replaceAll(/[^A-Za-z0-9]/g, "").slice(0, 12)}.${end}`);
  }
}

/** Says what is lost before anything is, the safe way first. */
function RemoveDialog({ space, onClose }) {
  const [problem, report] = useState();
  const [pictures, find] = useState([]);
  useEffect(() => {
    if (isOpen) stayingBlobs().then(find, () => find([]));
  }, []);
  const isOpen = space.name === session.space?.name && Boolean(session.diary);
  const pending = isOpen ? session.status?.pending : space.pending;
  const remove = async () => {
    try {
      await session.removeSpace(space.name);
      toasts.say(t("removed", space.name));
      onClose();
    } catch (error) {
      report(told(error));
    }
  };
  const downloadAndRemove = async () => {
    if (!isOpen) await session.choose(space.name);
    await downloadPending();
    await remove();
  };
  return html`<${Dialog} label=${t("removeAsk", space.name)} onClose=${onClose}>
    <p>${pending === undefined ? t("removeUnknown")
      : pending > 0 ? t("removeLose", pending) : t("removeNone")}</p>
    ${isOpen && pending > 0 && html`<${PendingList} />`}
    ${pictures.length > 0 && html`<${Note} tone="warning" title=${t("staying", pictures.length)}>
      <button class="text" onClick=${() => downloadPictures(pictures)}>${t("download")}</button>
    <//>`}
    ${problem && html`<${Note} tone="bad">${problem}<//>`}
    <div class="buttons stack">
      ${pending > 0 && html`<button class="main" onClick=${downloadAndRemove}>
        <${Icon} name="download" />${t("downloadAndRemove", pending)}</button>`}
      <button class="drop" onClick=${remove}>
        ${pending > 0 ? t("removeAndLose", pending) : t("remove")}</button>
      <button class="text" onClick=${onClose}>${t("keepIt")}</button></div><//>`;
}

function SignOutDialog({ onClose }) {
  const { pending = 0 } = session.status ?? {};
  return html`<${Dialog} label=${t("signOutAsk", session.space.name)} onClose=${onClose}>
    <p>${t("signOutMore")}</p>${pending > 0 && html`<p>${t("signOutPending", pending)}</p>`}
    <div class="buttons stack"><button class="main" onClick=${async () => {
      onClose();
      await session.signOut();
      location.hash = "#/";
    }}>${t("signOut")}</button>
    <button class="text" onClick=${onClose}>${t("cancel")}</button></div><//>`;
}

async function downloadAll() {
  save(await session.diary.export(), `${session.space.name}.jsonl`);
}

export function Settings() {
  const [asked, ask] = useState();
  return html`<div class="column"><h1>${t("settings")}</h1>
    <${Choice} label=${t("languageLabel")} value=${language.tag}
      options=${[{ value: "en", label: "English" }, { value: "it", label: "Italiano" }]}
      onChange=${(tag) => {
        language.tag = tag;
        session.changed();
      }} />
    <${Choice} label=${t("appearance")} value=${theme.chosen}
      options=${["system", "light", "dark"].map((value) => ({
        value, label: t({ system: "asSystem", light: "light", dark: "dark" }[value]),
      }))}
      onChange=${(value) => {
        theme.chosen = value;
      }} />
    <section class="section"><h2>${t("thisSpace")}</h2><${About} />
      <${Check} />
      <div class="buttons">
        <button onClick=${downloadAll}>
          <${Icon} name="download" />${t("exportAll")}</button>
        ${session.space.token && html`<button onClick=${() => ask("out")}>${t("signOut")}</button>`}
        <button class="drop" onClick=${() => ask("remove")}>${t("remove")}</button></div>
    </section>
    ${asked === "out" && html`<${SignOutDialog} onClose=${() => ask(undefined)} />`}
    ${asked === "remove" && html`<${RemoveDialog} space=${session.space}
      onClose=${() => ask(undefined)} />`}</div>`;
}

function About() {
  const { status, space } = session;
  const values = [
    [t("thisSpace"), space.name],
    [t("you"), status.actor ?? t("noActor")],
    [t("mayDo"), status.rights?.join(", ")],
    [t("roles"), status.roles?.join(", ")],
    [t("apps"), session.declared.filter(({ name }) => name !== "engine").map(appName).join(", ")],
    [t("events"), number(status.head + status.pending)],
    [t("room"), status.usage && t("of", size(status.usage), size(status.quota))],
    [t("replica"), status.replica && html`<code>${status.replica}</code>`],
    [t("root"), status.root && html`<code>${status.root}</code>`],
  ];
  return html`<dl class="values">${values.filter(([, value]) => value).map(([name, value]) => html`
    <div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Reads and checks all that is here. */
function Check() {
  const [state, take] = useState({});
  const run = async () => {
    take({ isRunning: true });
    try {
      take({ result: await session.diary.verify() });
    } catch (error) {
      take({ error });
    }
  };
  const { isRunning, result, error } = state;
  return html`<div class="buttons"><button onClick=${run} disabled=${isRunning}>
      <${Icon} name="shield" />${t("verify")}</button></div>
    <div role="status" aria-live="polite">
      ${isRunning && html`<${Progress} label=${t("verify")} />`}
      ${result?.ok && html`<${Note} tone="good" icon="shield"
        title=${t("whole", number(result.events))}><code>${result.root}</code><//>`}
      ${result && !result.ok && html`<${Note} tone="bad" title=${t("damaged")}>
        ${result.faults.join(" ")}<//>`}
      ${error && html`<${Note} tone="bad">${told(error)}<//>`}</div>`;
}
