-- query by-method(first DATE = NULL, last DATE = NULL,
--     speciesId TEXT of species = NULL): counted reports by method and coin, and reviews of them
-- answers (method ReportMethod, referenceId TEXT?, reports INTEGER, tooSmall INTEGER,
--   borderline INTEGER, meanMm REAL, sigmaShare REAL?, remeasured INTEGER, biasShare REAL?)
SELECT r.method, r.referenceId, count(*) AS reports,
    sum(r.sizeResult IN ('undersize', 'below_recommended')) AS tooSmall,
    sum(r.isBorderline) AS borderline, avg(r.lengthUm) / 1000 AS meanMm,
    avg(r.sigmaUm * 1.0 / r.lengthUm) AS sigmaShare, count(r.remeasuredUm) AS remeasured,
    avg((r.lengthUm - r.remeasuredUm) * 1.0 / r.remeasuredUm) AS biasShare
FROM counted AS r
WHERE r.observedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
    AND (:speciesId IS NULL OR r.speciesId = :speciesId)
GROUP BY r.method, r.referenceId
ORDER BY reports DESC, r.method, r.referenceId;
