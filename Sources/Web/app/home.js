// The start: the apps of the space, and what was recorded last.

import * as summaries from "./apps.js";
import { appIcon, appName, apps, today } from "./frame.js";
import { EventList } from "./inspector.js";
import { session } from "./session.js";
import { html, Row, State, useEffect, useState } from "./ui.js";
import { language, t } from "./words.js";

/** A line about an app that follows what is recorded; else what its pack says of itself. */
function AppLine({ pack }) {
  const line = summaries[pack.name];
  const [rows, take] = useState([]);
  const queries = line?.queries(session.status.actor ?? "") ?? {};
  useEffect(() => {
    if (!line) return undefined;
    const stops = Object.entries(queries).map(([name, parameters], index) =>
      session.diary.live(
        `${pack.name}.${name}`,
        parameters,
        (found) => take((before) => Object.assign([...before], { [index]: found })),
        // Another version of the pack may have other queries.
        () => take([]),
      ));
    return () => stops.forEach((stop) => stop());
  }, [pack.name, pack.version]);
  const isWhole = line && Object.keys(queries).every((_, index) => rows[index]);
  return isWhole ? line.says[language.tag](rows) : pack.description;
}

const LATELY = 20;

/** The last events, by days. */
function Lately() {
  const [events, take] = useState();
  const { head, pending } = session.status ?? {};
  useEffect(() => {
    session.diary.events({ limit: LATELY }).then(take, () => take([]));
  }, [head, pending]);
  if (!events) return html`<aside class="side"></aside>`;
  return html`<aside class="side" aria-label=${t("lately")}>
    <h2 class="ends">${t("lately")}<a class="small" href="/inspect#/log">${t("wholeLog")}</a></h2>
    ${events.length === 0 && html`<p class="quiet">${t("nothingYet")}</p>`}
    <${EventList} events=${events} level="h3" /></aside>`;
}

export function Home() {
  if (apps().length === 0) {
    return html`<${State} icon="apps" title=${t("noApps")} more=${t("noAppsMore")} />`;
  }
  return html`<div class="with-side"><div class="column">
      <h1>${t("home")}</h1><p class="lead">${today()}</p>
      <section class="section"><h2>${t("appsOfSpace")}</h2>
        <ul class="rows">${apps().map((pack) => html`
          <${Row} key=${pack.name} href=${`/#/app/${pack.name}`} icon=${appIcon(pack)}
            name=${appName(pack)} more=${html`<${AppLine} pack=${pack} />`} />`)}</ul>
      </section></div>
    <${Lately} /></div>`;
}
