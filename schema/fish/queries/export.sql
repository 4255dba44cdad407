-- query export(first DATE = NULL, last DATE = NULL, status ReportStatus = 'counted',
--     afterDate DATE = NULL, afterId TEXT = NULL,
--     most PageSize = 1000): reports for a file, by page, the oldest first
-- The first eight are those of the old app, but for the length, which is in micrometres here.
-- answers (idFish INTEGER, fishName TEXT, lengthUm INTEGER, eligibilitySize INTEGER?,
--   eligibilityDate INTEGER, origin RecordedOrigin, production Production, townReport TEXT,
--   reportId TEXT, assessmentId TEXT?, observedOn DATE, speciesId TEXT, nameSci TEXT?,
--   placeId TEXT, sigmaUm INTEGER?, remeasuredUm INTEGER?, method ReportMethod, referenceId TEXT?,
--   minSizeUm INTEGER?, minSizeKind RecordedMinSizeKind, seasonMask INTEGER?, zoneId TEXT?,
--   sizeResult RecordedSizeResult, isBorderline BOOLEAN, dateResult DateResult,
--   applicability Applicability, source ReportSource, boughtOn DATE?, boughtPlaceId TEXT?,
--   status ReportStatus, review ReviewOutcome?)
SELECT coalesce(s.ordinal, 0) AS idFish, coalesce(s.nameIt, r.speciesId) AS fishName, r.lengthUm,
    CASE
        WHEN r.sizeResult IN ('ok', 'not_required') THEN 1
        WHEN r.sizeResult IN ('undersize', 'below_recommended') THEN 0
    END AS eligibilitySize,
    r.dateResult = 'in_season' AS eligibilityDate, r.origin, r.production,
    coalesce(p.aliases ->> 0, p.name, r.placeId) || coalesce(' (' || m.name || ')', '')
        AS townReport,
    r.reportId, r.assessmentId, r.observedOn, r.speciesId, s.nameSci, r.placeId, r.sigmaUm,
    r.remeasuredUm, r.method, r.referenceId, r.minSizeUm, r.minSizeKind, r.seasonMask, r.zoneId,
    r.sizeResult, r.isBorderline, r.dateResult, r.applicability, r.source, r.boughtOn,
    r.boughtPlaceId, r.status, r.review
FROM report AS r
LEFT JOIN species AS s USING (speciesId)
LEFT JOIN place AS p ON p.placeId = r.placeId
LEFT JOIN place AS m ON m.placeId = p.parentId
WHERE (r.observedOn, r.reportId) > (coalesce(:afterDate, ''), coalesce(:afterId, ''))
    AND r.observedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
    AND (:status IS NULL OR r.status = :status)
ORDER BY r.observedOn, r.reportId LIMIT :most;
