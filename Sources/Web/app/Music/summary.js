// What the start and the navigation show of the app.

import { count } from "../words.js";

export const music = {
  names: { en: "Music", it: "Musica" },
  icon:
    "M8 15V4l9-1.5V13M8 15a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z"
    + "M17 13a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z",
  /** Their rows are what `says` gets, in this order. */
  queries: () => ({ albums: {}, playlists: {} }),
  says: {
    en: ([albums, lists]) =>
      `${count(albums, "album", "albums")}, ${count(lists, "playlist", "playlists")}`,
    it: ([albums, lists]) =>
      `${count(albums, "album", "album")}, ${count(lists, "playlist", "playlist")}`,
  },
};
