-- query public-map(year INTEGER = NULL): counted reports of each place, for everyone
-- Counts are rounded to multiples of 5, and those below 5 are hidden; the last row is of all.
WITH r AS (
    SELECT * FROM counted
    WHERE :year IS NULL OR observedOn BETWEEN :year || '-01-01' AND :year || '-12-31'
), g AS (
    SELECT placeId, count(*) AS reports,
        sum(sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
        sum(dateResult = 'reproducing') AS reproducing
    FROM r GROUP BY 1
    UNION ALL
    SELECT NULL, count(*), sum(sizeResult IN ('undersize', 'below_recommended')),
        sum(dateResult = 'reproducing')
    FROM r
)
SELECT g.placeId, p.name, t.name AS municipality, p.latE7, p.lonE7,
    iif(g.reports < 5, NULL, (g.reports + 2) / 5 * 5) AS reports,
    iif(g.tooSmall < 5, NULL, (g.tooSmall + 2) / 5 * 5) AS tooSmall,
    iif(g.reproducing < 5, NULL, (g.reproducing + 2) / 5 * 5) AS reproducing
FROM g
LEFT JOIN place AS p USING (placeId)
LEFT JOIN place AS t ON t.placeId = p.parentId
ORDER BY g.placeId IS NULL, t.name, p.name, g.placeId;
