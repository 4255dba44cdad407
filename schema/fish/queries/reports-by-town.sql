-- query reports-by-town(first DATE, last DATE): for each hamlet and species, how many and how long
-- answers (municipality TEXT, hamlet TEXT?, species TEXT, reports INTEGER, tooSmall INTEGER,
--   reproducing INTEGER, bothOk INTEGER, meanMm REAL, deviationMm REAL)
-- example first='2000-01-01', last='2030-01-01'
WITH g AS (
    SELECT placeId, speciesId, count(*) AS reports,
        sum(sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
        sum(dateResult = 'reproducing') AS reproducing,
        sum(sizeResult IN ('ok', 'not_required') AND dateResult = 'in_season') AS bothOk,
        sum(lengthUm) * 1.0 AS sum, sum(lengthUm * lengthUm) * 1.0 AS sum2
    FROM counted
    WHERE observedOn BETWEEN :first AND :last
    GROUP BY placeId, speciesId
)
SELECT coalesce(m.name, p.name, g.placeId) AS municipality,
    iif(m.placeId IS NULL, NULL, p.name) AS hamlet, coalesce(s.nameIt, g.speciesId) AS species,
    g.reports, g.tooSmall, g.reproducing, g.bothOk, g.sum / g.reports / 1000 AS meanMm,
    sqrt(max(0, g.sum2 / g.reports - (g.sum / g.reports) * (g.sum / g.reports))) / 1000
        AS deviationMm
FROM g
LEFT JOIN place AS p USING (placeId)
LEFT JOIN place AS m ON m.placeId = p.parentId
LEFT JOIN species AS s USING (speciesId)
ORDER BY municipality, hamlet, species, g.placeId, g.speciesId;
