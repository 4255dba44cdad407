// What the start and the navigation show of the app.

import { count, number } from "../words.js";

export const fish = {
  names: { en: "Fish", it: "Pesce" },
  icon: "M2.5 10c3-4.5 8-5 11.5-1.2L17.5 6v8L14 11.2C10.5 15 5.5 14.5 2.5 10zM6 9.5v.1",
  /** Their rows are what `says` gets, in this order. */
  queries: (user) => ({
    species: {},
    "in-season": { month: String(new Date().getMonth() + 1) },
    drafts: { user },
  }),
  says: {
    en: ([all, now, drafts]) =>
      `${number(now.length)} of ${number(all.length)} species in season`
      + (drafts.length > 0 ? `, ${count(drafts, "draft", "drafts")}` : ""),
    it: ([all, now, drafts]) =>
      `${number(now.length)} di ${number(all.length)} specie di stagione`
      + (drafts.length > 0 ? `, ${count(drafts, "bozza", "bozze")}` : ""),
  },
};
