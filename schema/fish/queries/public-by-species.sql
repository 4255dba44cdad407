-- query public-by-species(year INTEGER = NULL): counted reports of each species, for everyone
-- Counts are rounded to multiples of 5, and those below 5 are hidden; the last row is of all.
WITH r AS (
    SELECT * FROM counted
    WHERE :year IS NULL OR observedOn BETWEEN :year || '-01-01' AND :year || '-12-31'
), g AS (
    SELECT speciesId, count(*) AS reports,
        sum(sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
        sum(dateResult = 'reproducing') AS reproducing
    FROM r GROUP BY 1
    UNION ALL
    SELECT NULL, count(*), sum(sizeResult IN ('undersize', 'below_recommended')),
        sum(dateResult = 'reproducing')
    FROM r
)
SELECT g.speciesId, s.nameIt, s.nameEn,
    iif(g.reports < 5, NULL, (g.reports + 2) / 5 * 5) AS reports,
    iif(g.tooSmall < 5, NULL, (g.tooSmall + 2) / 5 * 5) AS tooSmall,
    iif(g.reproducing < 5, NULL, (g.reproducing + 2) / 5 * 5) AS reproducing
FROM g LEFT JOIN species AS s USING (speciesId)
ORDER BY g.speciesId IS NULL, s.ordinal IS NULL, s.ordinal, g.speciesId;
