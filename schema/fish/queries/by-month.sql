-- query by-month(first DATE = NULL, last DATE = NULL, speciesId TEXT of species = NULL,
--     placeId TEXT of places = NULL): the counted reports of each month
-- Shares are of the reports whose answer is known; a place stands for all in it.
-- answers (month TEXT, reports INTEGER, tooSmall INTEGER, reproducing INTEGER, bothOk INTEGER,
--   tooSmallShare REAL?, reproducingShare REAL, bothOkShare REAL?)
SELECT substr(r.observedOn, 1, 7) AS month, count(*) AS reports,
    sum(r.sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
    sum(r.dateResult = 'reproducing') AS reproducing,
    sum(r.sizeResult IN ('ok', 'not_required') AND r.dateResult = 'in_season') AS bothOk,
    sum(r.sizeResult IN ('undersize', 'below_recommended')) * 1.0
        / nullif(sum(r.sizeResult <> 'unknown'), 0) AS tooSmallShare,
    sum(r.dateResult = 'reproducing') * 1.0 / count(*) AS reproducingShare,
    sum(r.sizeResult IN ('ok', 'not_required') AND r.dateResult = 'in_season') * 1.0
        / nullif(sum(r.sizeResult <> 'unknown'), 0) AS bothOkShare
FROM counted AS r
WHERE r.observedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
    AND (:speciesId IS NULL OR r.speciesId = :speciesId)
    AND (
        :placeId IS NULL
        OR r.placeId IN (
            SELECT placeId FROM place WHERE placeId = :placeId OR parentId = :placeId
        )
    )
GROUP BY month
ORDER BY month;
