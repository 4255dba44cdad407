// What the start and the navigation show of the app.

import { count } from "../words.js";

export const zones = {
  names: { en: "Zones", it: "Zone" },
  icon: "M10 2.5l6.5 4v7l-6.5 4-6.5-4v-7zM10 10 3.5 6.5M10 10l6.5-3.5M10 10v7.5",
  /** Their rows are what `says` gets, in this order. */
  queries: () => ({ zones: {} }),
  says: {
    en: ([zones]) => count(zones, "zone", "zones"),
    it: ([zones]) => count(zones, "zona", "zone"),
  },
};
