-- query species(speciesId TEXT of species = NULL, day DATE = NULL,
--     zone TEXT of zones = '*'): the catalogue of a day
-- Without a day, of today; those that were retired only if one asks for them.
-- answers (speciesId TEXT, ordinal INTEGER?, nameIt TEXT, nameEn TEXT?, nameSci TEXT?,
--   family Family, measure BodyMeasure, minSizeKind MinSizeKind, minSizeUm INTEGER?,
--   legalBasis TEXT?, seasonMask INTEGER?, months TEXT?, dateResult DateResult, isRetired BOOLEAN)
WITH q AS (SELECT coalesce(:day, date('now')) AS day), r AS (
    SELECT s.*, q.day, m.minSizeKind, m.minSizeUm, m.legalBasis,
        (
            SELECT e.seasonMask FROM season AS e
            WHERE e.speciesId = s.speciesId AND e.zoneId IN (:zone, '*') AND e.validFrom <= q.day
            ORDER BY e.zoneId = '*', e.validFrom DESC LIMIT 1
        ) AS seasonMask,
        EXISTS (
            SELECT 1 FROM retirement AS r
            WHERE r.kind = 'species' AND r.id = s.speciesId AND r.stamp > s.stamp
        ) AS isRetired
    FROM q JOIN species AS s
    JOIN minimum AS m ON m.speciesId = s.speciesId AND m.validFrom = (
        SELECT max(validFrom) FROM minimum WHERE speciesId = s.speciesId AND validFrom <= q.day
    )
)
SELECT speciesId, ordinal, nameIt, nameEn, nameSci, family, measure, minSizeKind, minSizeUm,
    legalBasis, seasonMask, iif(seasonMask = 0, 'none', (
        WITH RECURSIVE m AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM m WHERE n < 12)
        SELECT group_concat(n) FROM m WHERE (seasonMask >> (n - 1)) & 1
    )) AS months,
    iif((seasonMask >> (substr(day, 6, 2) - 1)) & 1, 'reproducing', 'in_season') AS dateResult,
    isRetired
FROM r
WHERE iif(:speciesId IS NULL, isRetired = 0, speciesId = :speciesId)
ORDER BY ordinal IS NULL, ordinal, nameIt, speciesId;
