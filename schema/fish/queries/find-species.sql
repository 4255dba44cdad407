-- query find-species(words TEXT, month Month = NULL): species by a word of a name in any language
-- All of the words, or words that begin so; signs mean nothing else. Sizes and seasons of today.
-- answers (speciesId TEXT, nameIt TEXT, nameEn TEXT?, nameSci TEXT?, minSizeKind MinSizeKind?,
--   minSizeMm REAL?, season DateResult?)
-- example words='sar', month=4
SELECT s.speciesId, s.nameIt, s.nameEn, s.nameSci, m.minSizeKind, m.minSizeUm / 1000.0 AS minSizeMm,
    CASE (e.seasonMask >> (:month - 1)) & 1 WHEN 1 THEN 'reproducing' WHEN 0 THEN 'in_season' END
        AS season
FROM species_text AS t JOIN species AS s ON s.rowid = t.rowid
LEFT JOIN minimum AS m ON m.speciesId = s.speciesId AND m.validFrom = (
    SELECT max(validFrom) FROM minimum WHERE speciesId = s.speciesId AND validFrom <= date('now')
)
LEFT JOIN season AS e ON e.speciesId = s.speciesId AND e.zoneId = '*' AND e.validFrom = (
    SELECT max(validFrom) FROM season
    WHERE speciesId = s.speciesId AND zoneId = '*' AND validFrom <= date('now')
)
WHERE species_text MATCH '"' || replace(replace(:words, '"', ' '), ' ', '" * "') || '" *'
    AND NOT EXISTS (
        SELECT 1 FROM retirement AS r
        WHERE r.kind = 'species' AND r.id = s.speciesId AND r.stamp > s.stamp
    )
ORDER BY t.rank, s.speciesId;
