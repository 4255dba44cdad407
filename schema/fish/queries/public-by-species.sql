-- query public-by-species(year Year = NULL): counted reports of each species, for everyone
-- Counts are rounded to multiples of 5, and those below 5 are hidden; the last row is of all.
-- answers (speciesId TEXT?, nameIt TEXT?, nameEn TEXT?, reports INTEGER?, tooSmall INTEGER?,
--   reproducing INTEGER?)
WITH r AS (
    SELECT speciesId, count(*) AS reports,
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
SELECT g.speciesId, s.nameIt, s.nameEn,
    iif(g.reports < 5, NULL, (g.reports + 2) / 5 * 5) AS reports,
    iif(g.tooSmall < 5, NULL, (g.tooSmall + 2) / 5 * 5) AS tooSmall,
    iif(g.reproducing < 5, NULL, (g.reproducing + 2) / 5 * 5) AS reproducing
FROM g LEFT JOIN species AS s USING (speciesId)
ORDER BY g.speciesId IS NULL, s.ordinal IS NULL, s.ordinal, g.speciesId;
