-- query find-species(words TEXT, month INTEGER = NULL): species by a word of a name in any language
SELECT s.speciesId, s.nameIt, s.nameEn, s.nameSci, s.minSizeKind, s.minSizeUm / 1000.0 AS minSizeMm,
    iif((s.seasonMask >> (:month - 1)) & 1, 'reproducing', 'in_season') AS season
FROM species_text AS t JOIN species AS s ON s.rowid = t.rowid
WHERE species_text MATCH '"' || replace(:words, '"', '""') || '" *'
ORDER BY t.rank, s.speciesId;
