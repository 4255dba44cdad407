// The start: the apps of the space, and what was recorded last.

import { appIcon, appName, apps, today, TypeName } from "./frame.js";
import { Icon, Sign } from "./icons.js";
import { session } from "./session.js";
import { html, Row, State, useEffect, useState } from "./ui.js";
import { day, language, number, t, time } from "./words.js";

const isToday = (date) => new Date(date).toDateString() === new Date().toDateString();
const localDay = () => {
  const date = new Date();
  return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
};
const count = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;

// What an app has, in a line: queries of its pack, and words for their rows.
const lines = {
  fish: {
    queries: () => ({
      species: {},
      "in-season": { month: String(new Date().getMonth() + 1) },
      drafts: { user: session.status.actor ?? "" },
    }),
    en: ([all, now, drafts]) =>
      `${now.length} of ${all.length} species in season`
      + (drafts.length > 0 ? `, ${count(drafts.length, "draft", "drafts")}` : ""),
    it: ([all, now, drafts]) =>
      `${now.length} di ${all.length} specie di stagione`
      + (drafts.length > 0 ? `, ${count(drafts.length, "bozza", "bozze")}` : ""),
  },
  meals: {
    queries: () => ({ dashboard: { user: session.status.actor ?? "", day: localDay() } }),
    en: ([[day]]) =>
      day?.needKcal
        ? `${number(Math.round(day.eatenKcal))} of ${number(Math.round(day.needKcal))} kcal today`
        : `${number(Math.round(day?.eatenKcal ?? 0))} kcal today`,
    it: ([[day]]) =>
      day?.needKcal
        ? `${number(Math.round(day.eatenKcal))} di ${number(Math.round(day.needKcal))} kcal oggi`
        : `${number(Math.round(day?.eatenKcal ?? 0))} kcal oggi`,
  },
  music: {
    queries: () => ({ albums: {}, playlists: {} }),
    en: ([albums, lists]) =>
      `${count(albums.length, "album", "albums")}, ${count(lists.length, "playlist", "playlists")}`,
    it: ([albums, lists]) =>
      `${count(albums.length, "album", "album")}, ${count(lists.length, "playlist", "playlist")}`,
  },
  zones: {
    queries: () => ({ zones: {} }),
    en: ([zones]) => count(zones.length, "zone", "zones"),
    it: ([zones]) => count(zones.length, "zona", "zone"),
  },
  maps: {
    queries: () => ({ maps: {} }),
    en: ([maps]) => count(maps.length, "plan", "plans"),
    it: ([maps]) => count(maps.length, "mappa", "mappe"),
  },
};

/** A line about an app that follows what is recorded; else what its pack says of itself. */
function AppLine({ pack }) {
  const line = lines[pack.name];
  const [rows, take] = useState([]);
  useEffect(() => {
    if (!line) return undefined;
    const stops = Object.entries(line.queries()).map(([name, parameters], index) =>
      session.diary.live(
        `${pack.name}.${name}`,
        parameters,
        (found) => take((before) => Object.assign([...before], { [index]: found })),
        // Another version of the pack may have other queries.
        () => take([]),
      ));
    return () => stops.forEach((stop) => stop());
  }, [pack.name, pack.version]);
  const isWhole = line && Object.keys(line.queries()).every((_, index) => rows[index]);
  return isWhole ? line[language.tag](rows) : pack.description;
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
  const days = new Map();
  for (const event of events) {
    const date = new Date(event.at).toDateString();
    days.set(date, [...(days.get(date) ?? []), event]);
  }

  return html`<aside class="side" aria-label=${t("lately")}>
    <h2 class="ends">${t("lately")}<a class="small" href="/inspect#/log">${t("wholeLog")}</a></h2>
    ${events.length === 0 && html`<p class="quiet">${t("nothingYet")}</p>`}
    ${[...days].map(([date, list]) => html`<section key=${date}>
      <h3 class="section">${day(date)}</h3>
      <ul class="rows small">${list.map((event) => html`<li key=${event.origin}>
        <a class="row thin" href=${`/inspect#/event/${event.origin}`}>
          <time class="quiet" datetime=${event.at}>${time(event.at)}</time>
          <${Icon} name=${appIcon({ name: event.type.split(".")[0] })} />
          <span class="words"><${TypeName} name=${event.type} /></span>
          <${Sign} state=${event.position === undefined ? "here" : "both"} width="22" /></a></li>`)}
      </ul></section>`)}</aside>`;
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
