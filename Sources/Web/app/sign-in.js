// The first page: opening a space, and what the sign of two dots means.

import { LanguageButton } from "./frame.js";
import { Icon, Mark, Sign } from "./icons.js";
import { session, SignInError } from "./session.js";
import { Field, html, Note, Row, useObserved, useState } from "./ui.js";
import { kept } from "./offline.js";
import { size, t } from "./words.js";

export function SignIn() {
  useObserved(session);
  useObserved(kept);
  const [text, type] = useState("");
  const [error, report] = useState(session.signInError);
  const [isBusy, wait] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    wait(true);
    report(undefined);
    try {
      await session.signIn(text);
      location.hash = "#/";
    } catch (failure) {
      if (!(failure instanceof SignInError)) throw failure;
      report(failure.message);
      document.getElementById("token").focus();
    } finally {
      wait(false);
    }
  };
  const paste = async () => {
    try {
      type(await navigator.clipboard.readText());
    } catch {
      // The browser asks the person, who may have refused.
      document.getElementById("token").focus();
    }
  };
  const pending = session.spaces.reduce((sum, space) => sum + (space.pending ?? 0), 0);
  const wrong = error && (pending > 0 ? `${error} ${t("keptHere", pending)}` : error);
  const canPaste = Boolean(navigator.clipboard?.readText) && text === "";
  return html`<div class="sign-in">
    <header class="head"><span class="brand"><${Mark} size="32" />Diario</span>
      <${LanguageButton} /></header>
    <main id="content" class="inner" tabindex="-1">
      <span class="logo"><${Mark} size="44" /></span>
      <h1>${t("openSpace")}</h1>
      <p class="lead">${t("openMore")}</p>
      <form onSubmit=${submit} novalidate>
        <${Field} id="token" label=${t("linkOrToken")} help=${wrong ? "" : t("linkHelp")}
          error=${wrong} action=${canPaste && html`<button type="button" onClick=${paste}>
            <${Icon} name="paste" />${t("paste")}</button>`}>
          ${(given) => html`<input ...${given} class="code-input" value=${text} autocomplete="off"
            autocapitalize="off" spellcheck="false" placeholder=${"diario_\u2026"}
            onInput=${(event) => type(event.currentTarget.value)} />`}<//>
        <div class="buttons act">
          <button class="main" disabled=${isBusy}>${t("signIn")}</button></div>
      </form>
      ${!window.isSecureContext && html`<${Note} tone="warning" title=${t("notKept")}>
        ${t("notKeptMore")}<//>`}
      <${SpacesHere} />
    </main>
    <aside class="inner where-side" aria-label=${t("whereThings")}>
      <div class="where"><h2 class="label">${t("whereThings")}</h2>
        <ul>${[["here", "where1"], ["sending", "where2"], ["both", "where3"]].map(
          ([state, key]) => html`<li><${Sign} state=${state} width="36" /><div>
            <b>${t(key)}</b>
            <span class="longer">${t(`${key}More`)}</span>
            <span class="shorter">${t(`${key}Short`)}</span></div></li>`)}</ul></div>
      ${kept.bytes > 0 && html`<p class="kept good" role="status"><${Icon} name="check" />
        ${t("opensOffline", size(kept.bytes))}</p>`}
    </aside></div>`;
}

/** The spaces that this browser has, each with where its things are. */
function SpacesHere() {
  if (session.spaces.length === 0) return null;
  return html`<section class="section"><h2 class="label">${t("spacesHere")}</h2>
    <ul class="rows">${session.spaces.map((space) => html`
      <${Row} key=${space.name} name=${space.name} more=${space.actor}
        onClick=${() => {
          session.choose(space.name);
          location.hash = "#/";
        }}>
        <${SpaceSign} space=${space} /><//>`)}</ul></section>`;
}

export function SpaceSign({ space }) {
  const state = space.token ? (space.pending > 0 ? "here" : "both") : "paused";
  const words = space.pending > 0 ? t("onlyHere", space.pending)
    : t(space.token ? "onServer" : "signedOut");
  return html`<span class="value ${space.token ? "" : "warning"}"
    style="display:flex;gap:8px;align-items:center"><${Sign} state=${state} />${words}</span>`;
}
