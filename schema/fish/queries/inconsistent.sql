-- query inconsistent(most PageSize = 100): reports that cannot be true, and what of them
-- A withdrawn one is nobody's concern, and those that count are not among them: an index finds the
-- others.
-- answers (reportId TEXT, contradiction Contradiction, observedOn DATE, actor TEXT,
--   status ReportStatus, speciesId TEXT, placeId TEXT, referenceId TEXT?, lengthUm INTEGER,
--   minSizeUm INTEGER?, minSizeKind RecordedMinSizeKind, seasonMask INTEGER?,
--   sizeResult RecordedSizeResult, sizeFollowing SizeResult?, dateResult DateResult,
--   dateFollowing DateResult?, boughtOn DATE?, boughtPlaceId TEXT?, source ReportSource)
SELECT r.reportId, c.what AS contradiction, r.observedOn, r.actor, r.status, r.speciesId, r.placeId,
    r.referenceId, r.lengthUm, r.minSizeUm, r.minSizeKind, r.seasonMask, r.sizeResult,
    r.sizeFollowing, r.dateResult, r.dateFollowing, r.boughtOn, r.boughtPlaceId, r.source
FROM report AS r JOIN contradiction AS c USING (reportId)
WHERE r.status IN ('foreign', 'duplicate', 'rejected', 'inconsistent') AND c.what IS NOT NULL
ORDER BY r.observedOn DESC, r.reportId LIMIT :most;
