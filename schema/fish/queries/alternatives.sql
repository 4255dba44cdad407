-- query alternatives(day DATE, speciesId TEXT of species = NULL,
--     zone TEXT of zones = '*'): what to buy instead
-- All that is in season but the species itself; each must still reach its own minimum size.
-- answers (speciesId TEXT, nameIt TEXT, nameEn TEXT?, minSizeKind MinSizeKind, minSizeUm INTEGER?)
-- example day='2026-04-18'
SELECT s.speciesId, s.nameIt, s.nameEn, m.minSizeKind, m.minSizeUm
FROM species AS s
JOIN minimum AS m ON m.speciesId = s.speciesId AND m.validFrom = (
    SELECT max(validFrom) FROM minimum WHERE speciesId = s.speciesId AND validFrom <= :day
)
WHERE s.speciesId IS NOT :speciesId
    AND (
        SELECT (e.seasonMask >> (substr(:day, 6, 2) - 1)) & 1 FROM season AS e
        WHERE e.speciesId = s.speciesId AND e.zoneId IN (:zone, '*') AND e.validFrom <= :day
        ORDER BY e.zoneId = '*', e.validFrom DESC LIMIT 1
    ) = 0
    AND NOT EXISTS (
        SELECT 1 FROM retirement AS r
        WHERE r.kind = 'species' AND r.id = s.speciesId AND r.stamp > s.stamp
    )
ORDER BY s.ordinal IS NULL, s.ordinal, s.nameIt, s.speciesId;
