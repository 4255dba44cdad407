-- query public-map(year Year = NULL): counted reports of each place, for everyone
-- Counts are rounded to multiples of 5, and those below 5 are hidden; the last row is of all.
-- answers (placeId TEXT?, name TEXT?, municipality TEXT?, latE7 INTEGER?, lonE7 INTEGER?,
--   reports INTEGER?, tooSmall INTEGER?, reproducing INTEGER?)
WITH r AS (
    SELECT placeId, count(*) AS reports,
        sum(sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
        sum(dateResult = 'reproducing') AS reproducing
    FROM counted
    WHERE observedOn BETWEEN coalesce(:year || '-01-01', '')
        AND coalesce(:year || '-12-31', '9999-99')
    GROUP BY 1
), g AS (
    SELECT * FROM r
    UNION ALL
    SELECT NULL, sum(reports), sum(tooSmall), sum(reproducing) FROM r
)
SELECT g.placeId, p.name, t.name AS municipality, p.latE7, p.lonE7,
    iif(g.reports < 5, NULL, (g.reports + 2) / 5 * 5) AS reports,
    iif(g.tooSmall < 5, NULL, (g.tooSmall + 2) / 5 * 5) AS tooSmall,
    iif(g.reproducing < 5, NULL, (g.reproducing + 2) / 5 * 5) AS reproducing
FROM g
LEFT JOIN place AS p USING (placeId)
LEFT JOIN place AS t ON t.placeId = p.parentId
ORDER BY g.placeId IS NULL, t.name, p.name, g.placeId;
