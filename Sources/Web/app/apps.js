// The apps that come along, by their packs: a folder for each.

export * from "./Fish/summary.js";
export * from "./Maps/summary.js";
export * from "./Meals/summary.js";
export * from "./Music/summary.js";
export * from "./Zones/summary.js";
