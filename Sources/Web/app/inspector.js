// The log: the newest events first, and all of one, with its proof.

import { appIcon, TypeName } from "./frame.js";
import { checkProof, stepsOf } from "../diario.js";
import { Icon, Sign } from "./icons.js";
import { Values } from "./plain.js";
import { session } from "./session.js";
import { html, Note, State, told, useEffect, useState } from "./ui.js";
import { day, number, t, time } from "./words.js";

const PAGE = 50;

/** By days, below a heading of the level before `level`. */
export function EventList({ events, level }) {
  const days = new Map();
  for (const event of events) {
    const date = new Date(event.at).toDateString();
    days.set(date, [...(days.get(date) ?? []), event]);
  }
  return [...days].map(([date, list]) => html`<section key=${date}>
    <${level} class="section day">${day(date)}<//>
    <ul class="rows small">${list.map((event) => html`<li key=${event.origin}>
      <a class="row thin" href=${`/inspect#/event/${event.position ?? event.origin}`}>
        <time class="quiet" datetime=${event.at}>${time(event.at)}</time>
        <${Icon} name=${appIcon({ name: event.type.split(".")[0] })} />
        <span class="words"><${TypeName} name=${event.type} /></span>
        <${Sign} state=${event.position === undefined ? "here" : "both"} width="22" /></a></li>`)}
    </ul></section>`);
}

export function Log() {
  const [count, show] = useState(PAGE);
  const [events, take] = useState();
  const { head, pending } = session.status;
  useEffect(() => {
    session.diary.events({ limit: Math.min(count, 1000), all: true }).then(take, () => take([]));
  }, [head, pending, count]);
  if (events?.length === 0) {
    return html`<${State} icon="log" title=${t("nothingYet")} more=${t("panelAllMore")} />`;
  }
  return html`<div class="column"><h1>${t("log")}</h1>
    <p class="lead">${t("logMore", number(head + pending))}</p>
    ${events && html`<${EventList} events=${events} level="h2" />`}
    ${events?.length === count && count < 1000 && html`<div class="buttons">
      <button onClick=${() => show(count + 5 * PAGE)}>${t("more")}</button></div>`}</div>`;
}

export function EventPage({ name }) {
  const [event, take] = useState();
  const [proof, prove] = useState();
  const [problem, report] = useState();
  const { head } = session.status;
  useEffect(() => {
    const find = async () => {
      const found = await session.diary.event(/^\d+$/.test(name) ? Number(name) : name);
      take(found);
      // Without HTTPS a browser computes no hashes.
      if (found.position === undefined || !window.isSecureContext) return;
      const given = await session.diary.prove(found.position);
      // The root is the one that this device computed of its own log.
      const { root } = await session.diary.status();
      prove({ ...given, holds: given.root === root && (await checkProof(given)) });
    };
    find().catch((error) => report(told(error)));
  }, [name, head]);
  if (problem) return html`<${State} icon="warn" title=${t("notFound")} more=${problem} />`;
  if (!event) return null;
  const { payload, ...about } = event;
  return html`<div class="column"><h1><${TypeName} name=${event.type} /></h1>
    <p class="lead">${day(event.at)}, ${time(event.at)}</p>
    <section class="section"><h2>${t("content")}</h2><${Values} value=${payload} /></section>
    <section class="section"><h2>${t("aboutIt")}</h2><${Values} value=${about} /></section>
    ${proof && html`<section class="section" role="status"><h2>${t("proof")}</h2>
      <${Note} tone=${proof.holds ? "good" : "bad"} icon="shield"
        title=${t(proof.holds ? "proved" : "notProved")}>
        ${t("proofMore", stepsOf(proof).length, number(proof.size))}
        <div><code>${proof.root}</code></div><//></section>`}</div>`;
}
