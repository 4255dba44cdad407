-- query public-by-origin(year Year = NULL): counted reports by sea and production, for everyone
-- Counts are rounded to multiples of 5, and those below 5 are hidden; the last row is of all.
-- answers (origin RecordedOrigin?, production Production?, reports INTEGER?, tooSmall INTEGER?,
--   reproducing INTEGER?)
WITH r AS (
    SELECT origin, production, count(*) AS reports,
        sum(sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
        sum(dateResult = 'reproducing') AS reproducing
    FROM counted
    WHERE observedOn BETWEEN coalesce(:year || '-01-01', '')
        AND coalesce(:year || '-12-31', '9999-99')
    GROUP BY 1, 2
), g AS (
    SELECT * FROM r
    UNION ALL
    SELECT NULL, NULL, sum(reports), sum(tooSmall), sum(reproducing) FROM r
)
SELECT g.origin, g.production,
    iif(g.reports < 5, NULL, (g.reports + 2) / 5 * 5) AS reports,
    iif(g.tooSmall < 5, NULL, (g.tooSmall + 2) / 5 * 5) AS tooSmall,
    iif(g.reproducing < 5, NULL, (g.reproducing + 2) / 5 * 5) AS reproducing
FROM g
ORDER BY g.origin IS NULL, g.origin, g.production;
