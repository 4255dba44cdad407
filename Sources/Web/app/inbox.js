// Own events that the server refused: why, what others did meanwhile, and three ways on.

import { TypeName } from "./frame.js";
import { Values } from "./plain.js";
import { Icon, Sign } from "./icons.js";
import { session } from "./session.js";
import { Dialog, html, Note, save, State, toasts, told, useEffect, useState } from "./ui.js";
import { day, t, time } from "./words.js";

export function Inbox() {
  const [batches, take] = useState();
  useEffect(() => {
    session.diary.inbox().then(take, () => take([]));
  }, [session.status?.inbox]);
  if (batches?.length === 0) {
    return html`<${State} icon="inbox" title=${t("inboxEmpty")} more=${t("inboxEmptyMore")} />`;
  }
  return html`<div class="column"><h1>${t("inbox")}</h1><p class="lead">${t("inboxMore")}</p>
    ${batches?.map((batch) => html`<${Batch} key=${batch.origin} batch=${batch} />`)}</div>`;
}

function Batch({ batch }) {
  const { origin, message, rule } = batch;
  const [shown, take] = useState();
  const [problem, report] = useState();
  const [isAsked, ask] = useState(false);
  useEffect(() => {
    session.diary.refused(origin).then(take, (error) => report(told(error)));
  }, [origin]);
  const act = async (body, words) => {
    try {
      await body();
      toasts.say(words);
      session.look();
    } catch (error) {
      report(told(error));
    }
  };
  const again = () => act(() => session.diary.recordAgain(origin, { force: true }), t("again1"));
  const discard = () => act(() => session.diary.discard(origin), t("discarded"));
  const download = () => {
    const lines = shown.events.map((event) => JSON.stringify(event));
    save(new Blob([lines.join("\n"), "\n"]), `${origin}.jsonl`);
  };
  return html`<section class="section">
    <h2 class="bad"><${Sign} state="refused" /> ${message ?? t("refusedUnknown")}</h2>
    ${rule && html`<p class="help"><code>${rule}</code></p>`}
    <${Events} events=${shown?.events ?? []} sign="refused" />
    ${shown?.concurrent.length > 0 && html`<h3 class="section">${t("meanwhile")}</h3>
      <${Events} events=${shown.concurrent} sign="both" />`}
    ${problem && html`<${Note} tone="bad">${problem}<//>`}
    <div class="buttons"><button class="main" onClick=${again}>${t("recordAgain")}</button>
      <button onClick=${download} disabled=${!shown}><${Icon} name="download" />
        ${t("download")}</button>
      <button class="drop" onClick=${() => ask(true)}>${t("discard")}</button></div>
    ${isAsked && html`<${Dialog} label=${t("discardAsk")} onClose=${() => ask(false)}>
      <p>${t("discardMore")}</p><div class="buttons stack">
        <button class="main" onClick=${() => ask(false)}>${t("keepIt")}</button>
        <button class="drop" onClick=${discard}>${t("discard")}</button></div><//>`}</section>`;
}

function Events({ events, sign }) {
  return html`<ul class="rows">${events.map((event) => html`<li class="row" key=${event.origin}>
    <span class="words"><span class="name"><${TypeName} name=${event.type} /></span>
      <span class="more">${event.actor} ${day(event.at)} ${time(event.at)}</span>
      <${Values} value=${event.payload} /></span>
    <${Sign} state=${sign} width="22" /></li>`)}</ul>`;
}
