-- query public-by-month(year Year = NULL): counted reports of each month, for everyone
-- Counts are rounded to multiples of 5, and those below 5 are hidden; the last row is of all.
-- answers (month TEXT?, reports INTEGER?, tooSmall INTEGER?, reproducing INTEGER?)
WITH r AS (
    SELECT substr(observedOn, 1, 7) AS month, count(*) AS reports,
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
SELECT g.month,
    iif(g.reports < 5, NULL, (g.reports + 2) / 5 * 5) AS reports,
    iif(g.tooSmall < 5, NULL, (g.tooSmall + 2) / 5 * 5) AS tooSmall,
    iif(g.reproducing < 5, NULL, (g.reproducing + 2) / 5 * 5) AS reproducing
FROM g
ORDER BY g.month IS NULL, g.month;
