// What the start and the navigation show of the app.

import { localDay, number } from "../words.js";

const kcal = (value) => number(Math.round(value));

export const meals = {
  names: { en: "Meals", it: "Pasti" },
  icon: "M5 3v4a2 2 0 0 0 4 0V3M7 3v14M14 17V3c-2 1-3 3.5-3 7h3",
  /** Their rows are what `says` gets, in this order. */
  queries: (user) => ({ dashboard: { user, day: localDay() } }),
  says: {
    en: ([[today]]) =>
      today?.needKcal ? `${kcal(today.eatenKcal)} of ${kcal(today.needKcal)} kcal today`
        : `${kcal(today?.eatenKcal ?? 0)} kcal today`,
    it: ([[today]]) =>
      today?.needKcal ? `${kcal(today.eatenKcal)} di ${kcal(today.needKcal)} kcal oggi`
        : `${kcal(today?.eatenKcal ?? 0)} kcal oggi`,
  },
};
