-- query find-species(words TEXT, month INTEGER = NULL): species by a word of a name in any language
-- All of the words, or words that begin so; signs mean nothing else.
SELECT s.speciesId, s.nameIt, s.nameEn, s.nameSci, s.minSizeKind, s.minSizeUm / 1000.0 AS minSizeMm,
    CASE (s.seasonMask >> (:month - 1)) & 1 WHEN 1 THEN 'reproducing' WHEN 0 THEN 'in_season' END
        AS season
FROM species_text AS t JOIN species AS s ON s.rowid = t.rowid
WHERE species_text MATCH '"' || replace(replace(:words, '"', ' '), ' ', '" * "') || '" *'
ORDER BY t.rank, s.speciesId;
