-- query by-species(first DATE = NULL, last DATE = NULL,
--     placeId TEXT of places = NULL): the counted reports of each species, and their lengths
-- Shares are of the reports whose answer is known; a place stands for all in it.
-- answers (speciesId TEXT, nameIt TEXT?, nameEn TEXT?, reports INTEGER, tooSmall INTEGER,
--   reproducing INTEGER, bothOk INTEGER, tooSmallShare REAL?, reproducingShare REAL,
--   bothOkShare REAL?, meanMm REAL, deviationMm REAL, shortestMm REAL, longestMm REAL)
WITH g AS (
    SELECT r.speciesId, count(*) AS reports,
        sum(r.sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
        sum(r.dateResult = 'reproducing') AS reproducing,
        sum(r.sizeResult IN ('ok', 'not_required') AND r.dateResult = 'in_season') AS bothOk,
        sum(r.sizeResult <> 'unknown') AS judged, min(r.lengthUm) AS least,
        max(r.lengthUm) AS most, sum(r.lengthUm) * 1.0 AS sum,
        sum(r.lengthUm * r.lengthUm) * 1.0 AS sum2
    FROM counted AS r
    WHERE r.observedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
        AND (
            :placeId IS NULL
            OR r.placeId IN (
                SELECT placeId FROM place WHERE placeId = :placeId OR parentId = :placeId
            )
        )
    GROUP BY r.speciesId
)
SELECT g.speciesId, s.nameIt, s.nameEn, g.reports, g.tooSmall, g.reproducing, g.bothOk,
    g.tooSmall * 1.0 / nullif(g.judged, 0) AS tooSmallShare,
    g.reproducing * 1.0 / g.reports AS reproducingShare,
    g.bothOk * 1.0 / nullif(g.judged, 0) AS bothOkShare, g.sum / g.reports / 1000 AS meanMm,
    sqrt(max(0, g.sum2 / g.reports - (g.sum / g.reports) * (g.sum / g.reports))) / 1000
        AS deviationMm,
    g.least / 1000.0 AS shortestMm, g.most / 1000.0 AS longestMm
FROM g LEFT JOIN species AS s USING (speciesId)
ORDER BY s.ordinal IS NULL, s.ordinal, g.speciesId;
