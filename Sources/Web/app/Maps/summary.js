// What the start and the navigation show of the app.

import { count } from "../words.js";

export const maps = {
  names: { en: "Maps", it: "Mappe" },
  icon: "M3 3h14v14H3zM3 8h6V3M9 12v5M9 12h4V8h4",
  /** Their rows are what `says` gets, in this order. */
  queries: () => ({ maps: {} }),
  says: {
    en: ([maps]) => count(maps, "plan", "plans"),
    it: ([maps]) => count(maps, "mappa", "mappe"),
  },
};
