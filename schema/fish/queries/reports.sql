-- query reports(first DATE = NULL, last DATE = NULL, speciesId TEXT of species = NULL,
--     placeId TEXT of places = NULL, method ReportMethod = NULL, origin RecordedOrigin = NULL,
--     production Production = NULL, source ReportSource = NULL, status ReportStatus = NULL,
--     review ReviewFilter = NULL, user TEXT = NULL, afterDate DATE = NULL, afterId TEXT = NULL,
--     most PageSize = 100): reports by page, the newest first
-- A place stands for all in it; review takes 'none' too. The next page comes after the last row.
-- answers (reportId TEXT, observedOn DATE, actor TEXT, status ReportStatus, speciesId TEXT,
--   nameIt TEXT?, nameEn TEXT?, placeId TEXT, place TEXT?, municipality TEXT?, lengthUm INTEGER,
--   sigmaUm INTEGER?, remeasuredUm INTEGER?, minSizeUm INTEGER?, minSizeKind RecordedMinSizeKind,
--   method ReportMethod, referenceId TEXT?, sizeResult RecordedSizeResult, isBorderline BOOLEAN,
--   dateResult DateResult, applicability Applicability, origin RecordedOrigin,
--   production Production, source ReportSource, review ReviewOutcome?)
SELECT r.reportId, r.observedOn, r.actor, r.status, r.speciesId, s.nameIt, s.nameEn, r.placeId,
    p.name AS place, m.name AS municipality, r.lengthUm, r.sigmaUm, r.remeasuredUm, r.minSizeUm,
    r.minSizeKind, r.method, r.referenceId, r.sizeResult, r.isBorderline, r.dateResult,
    r.applicability, r.origin, r.production, r.source, r.review
FROM report AS r
LEFT JOIN species AS s USING (speciesId)
LEFT JOIN place AS p ON p.placeId = r.placeId
LEFT JOIN place AS m ON m.placeId = p.parentId
WHERE (r.observedOn, r.reportId) < (coalesce(:afterDate, '9999-99'), coalesce(:afterId, ''))
    AND r.observedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
    AND (:speciesId IS NULL OR r.speciesId = :speciesId)
    AND (:placeId IS NULL OR r.placeId = :placeId OR p.parentId = :placeId)
    AND (:method IS NULL OR r.method = :method)
    AND (:origin IS NULL OR r.origin = :origin)
    AND (:production IS NULL OR r.production = :production)
    AND (:source IS NULL OR r.source = :source)
    AND (:status IS NULL OR r.status = :status)
    AND (:review IS NULL OR coalesce(r.review, 'none') = :review)
    AND (:user IS NULL OR r.actor = :user)
ORDER BY r.observedOn DESC, r.reportId DESC LIMIT :most;
