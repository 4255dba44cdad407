-- query map(first DATE = NULL, last DATE = NULL,
--     speciesId TEXT of species = NULL): counted reports by place
-- Places without reports are there too, unless they were retired.
-- answers (placeId TEXT, name TEXT, parentId TEXT?, municipality TEXT?, latE7 INTEGER?,
--   lonE7 INTEGER?, reports INTEGER, tooSmall INTEGER, reproducing INTEGER, bothOk INTEGER)
WITH g AS (
    SELECT r.placeId, count(*) AS reports,
        sum(r.sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
        sum(r.dateResult = 'reproducing') AS reproducing,
        sum(r.sizeResult IN ('ok', 'not_required') AND r.dateResult = 'in_season') AS bothOk
    FROM counted AS r
    WHERE r.observedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
        AND (:speciesId IS NULL OR r.speciesId = :speciesId)
    GROUP BY r.placeId
)
SELECT p.placeId, p.name, p.parentId, m.name AS municipality, p.latE7, p.lonE7,
    coalesce(g.reports, 0) AS reports, coalesce(g.tooSmall, 0) AS tooSmall,
    coalesce(g.reproducing, 0) AS reproducing, coalesce(g.bothOk, 0) AS bothOk
FROM place AS p
LEFT JOIN place AS m ON m.placeId = p.parentId
LEFT JOIN g ON g.placeId = p.placeId
WHERE g.reports IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM retirement AS r
    WHERE r.kind = 'place' AND r.id = p.placeId AND r.stamp > p.stamp
)
ORDER BY coalesce(m.name, p.name), m.placeId IS NOT NULL, p.name, p.placeId;
