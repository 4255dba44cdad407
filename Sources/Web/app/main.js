// The pages: which one the address names, and what stands there while it is opened.

import * as summaries from "./apps.js";
import { Frame } from "./frame.js";
import { Home } from "./home.js";
import { salvage } from "../diario.js";
import { Icon, Sign } from "./icons.js";
import { EventPage, Log } from "./inspector.js";
import { kept } from "./offline.js";
import { appRoute } from "./plain.js";
import { session, SignInError } from "./session.js";
import { Inbox } from "./inbox.js";
import { Settings, Spaces } from "./settings.js";
import { SignIn } from "./sign-in.js";
import {
  html, Progress, render, save, State, ToastList, told, useEffect, useObserved, useState,
} from "./ui.js";
import { language, number, size, t } from "./words.js";

/** The address below `#/`, in its parts, and what is behind a question mark. */
function readAddress() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  // An app has an address of its own.
  const name = location.pathname.slice(1);
  if (summaries[name] && parts[0] === "") return { parts: ["app", name], search };
  return { parts, search };
}

function useAddress() {
  const [address, take] = useState(readAddress);
  useEffect(() => {
    const changed = () => {
      take(readAddress());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return address;
}

const pages = {
  "": { name: "home", page: Home },
  spaces: { name: "spaces", page: Spaces },
  settings: { name: "settings", page: Settings },
  inbox: { name: "inbox", page: Inbox },
};

function inspectorPage([name, item]) {
  const root = { name: t("inspector"), href: "/inspect#/log" };
  if (name === "" || name === "log") return { place: [root], page: html`<${Log} />` };
  return name === "event" && {
    place: [root, { name: item }],
    page: html`<${EventPage} key=${item} name=${item} />`,
  };
}

/** What stands at an address of the open space. */
function pageAt({ parts, search }) {
  if (location.pathname === "/inspect") return inspectorPage(parts);
  if (parts[0] === "app") return appRoute(parts, search);
  const found = pages[parts[0]];
  return found && { place: [{ name: t(found.name) }], page: html`<${found.page} />` };
}

function App() {
  useObserved(session);
  const address = useAddress();
  const { phase } = session;
  if (phase === "out" || address.parts[0] === "sign-in") return html`<${SignIn} />`;
  if (phase !== "open") return html`<${Opening} />`;
  const found = pageAt(address) || {
    place: [{ name: t("notFound") }],
    page: html`<${State} icon="other" title=${t("notFound")} more=${t("notFoundMore")}>
      <a class="button main" href="/#/">${t("toHome")}</a><//>`,
  };
  return html`<${Frame} route=${address.parts} place=${found.place}>${found.page}<//>`;
}

/** The space comes from the server, or from this device; or cannot. */
function Opening() {
  const { phase, progress, error, space } = session;
  if (phase === "failed") {
    // What is not here yet and cannot be fetched is no fault.
    const isAway = error.kind === "offline";
    const isDamaged = error.kind === "corrupt";
    const words = isAway ? t("firstOfflineMore") : isDamaged ? t("corruptMore") : told(error);
    return html`<main id="content" tabindex="-1"><${State} icon="warn"
      sign=${isAway && html`<${Sign} state="offline" width="52" />`}
      title=${t(isAway ? "firstOffline" : isDamaged ? "corrupt" : "cannotOpen")}
      more=${words}
      details=${!isAway && `${error.kind ?? error.name}: ${error.message}`}>
      ${isDamaged && html`<${Salvage} />`}
      <button class="main" onClick=${() => session.open()}>${t("again")}</button>
      <a class="button" href="/#/sign-in">${t("newToken")}</a><//></main>`;
  }
  const { bytes, events, of } = progress ?? {};
  const words = events !== undefined ? t("copyingEvents", number(events), number(of))
    : bytes !== undefined && t("copyingBytes", size(bytes), size(of));
  return html`<main id="content" tabindex="-1"><div class="state" role="status">
    <${Sign} state="here" width="52" />
    <h1>${phase === "copying" ? t("copying") : t("opening")}</h1>
    ${phase === "copying" && html`<p>${space.name}${words && `, ${words}`}</p>
      <${Progress} label=${t("copying")} done=${events ?? bytes ?? 0} of=${of} />`}</div></main>`;
}

/** What is only here of a damaged space, before it is given up and copied again. */
function Salvage() {
  const { name } = session.space;
  const [found, take] = useState();
  const [problem, report] = useState();
  useEffect(() => {
    salvage({ url: `/v1/spaces/${name}` }).then(take, (error) => report(told(error)));
  }, [name]);
  const copyAgain = async () => {
    try {
      await session.copyAgain();
    } catch (error) {
      report(told(error));
    }
  };
  return html`<div role="status">
    ${found && html`<p>${t(found.events > 0 ? "salvaged" : "salvagedNone", found.events)}</p>`}
    ${problem && html`<p>${problem}</p>`}</div>
    ${found?.events > 0 && html`<button class="main"
      onClick=${() => save(found.lines, `${name}-pending.jsonl`)}>
      <${Icon} name="download" />${t("downloadN", found.events)}</button>`}
    ${(found || problem) && html`<button class="drop" onClick=${copyAgain}>${t("copyAgain")}
    </button>`}`;
}

/** Whether this browser has what is used here. */
const isNewEnough = () =>
  typeof WebAssembly === "object" && "BroadcastChannel" in window
  && "showModal" in HTMLDialogElement.prototype && CSS.supports("selector(:has(a))");

/** A link of `diario` or of who runs the space: its token does not stay in the address. */
async function takeLink() {
  const link = location.href;
  history.replaceState(null, "", location.pathname);
  session.phase = "opening";
  try {
    await session.signIn(link);
  } catch (error) {
    session.phase = "out";
    session.signInError = error instanceof SignInError ? error.message : told(error);
    session.changed();
  }
}

function begin() {
  document.documentElement.lang = language.tag;
  const root = document.getElementById("root");
  if (!isNewEnough()) {
    render(html`<main><${State} icon="warn" title=${t("tooOld")} more=${t("tooOldMore")} /></main>`,
      root);
    return;
  }
  if (/[#&?/]token=/.test(location.hash)) takeLink();
  else session.open();
  addEventListener("hashchange", () => /[#&?/]token=/.test(location.hash) && takeLink());
  render(html`<${App} /><${ToastList} />`, root);
  kept.begin();
}

begin();
