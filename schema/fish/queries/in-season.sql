-- query in-season(month Month, day DATE = NULL,
--     zone TEXT of zones = '*'): species to buy in a month
-- By the catalogue of the day, or of today, with their minimum sizes.
-- answers (speciesId TEXT, nameIt TEXT, nameEn TEXT?, minSizeKind MinSizeKind, minSizeMm REAL?)
-- example month=10
WITH q AS (SELECT coalesce(:day, date('now')) AS day)
SELECT s.speciesId, s.nameIt, s.nameEn, m.minSizeKind, m.minSizeUm / 1000.0 AS minSizeMm
FROM q JOIN species AS s
JOIN minimum AS m ON m.speciesId = s.speciesId AND m.validFrom = (
    SELECT max(validFrom) FROM minimum WHERE speciesId = s.speciesId AND validFrom <= q.day
)
WHERE :month BETWEEN 1 AND 12
    AND (
        SELECT (e.seasonMask >> (:month - 1)) & 1 FROM season AS e
        WHERE e.speciesId = s.speciesId AND e.zoneId IN (:zone, '*') AND e.validFrom <= q.day
        ORDER BY e.zoneId = '*', e.validFrom DESC LIMIT 1
    ) = 0
    AND NOT EXISTS (
        SELECT 1 FROM retirement AS r
        WHERE r.kind = 'species' AND r.id = s.speciesId AND r.stamp > s.stamp
    )
ORDER BY s.nameIt, s.speciesId;
