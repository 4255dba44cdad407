-- query by-origin(first DATE = NULL, last DATE = NULL,
--     speciesId TEXT of species = NULL): the counted reports by sea and production
-- answers (origin RecordedOrigin, production Production, reports INTEGER, tooSmall INTEGER,
--   reproducing INTEGER, bothOk INTEGER)
SELECT r.origin, r.production, count(*) AS reports,
    sum(r.sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
    sum(r.dateResult = 'reproducing') AS reproducing,
    sum(r.sizeResult IN ('ok', 'not_required') AND r.dateResult = 'in_season') AS bothOk
FROM counted AS r
WHERE r.observedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
    AND (:speciesId IS NULL OR r.speciesId = :speciesId)
GROUP BY r.origin, r.production
ORDER BY r.origin, r.production;
