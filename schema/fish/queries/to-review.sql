-- query to-review(most PageSize = 50): reports that count and that no researcher has looked at
-- answers (reportId TEXT, observedOn DATE, speciesId TEXT, placeId TEXT, lengthMm REAL,
--   method ReportMethod, referenceId TEXT?, sizeResult RecordedSizeResult, isBorderline BOOLEAN,
--   dateResult DateResult, photoId TEXT?, note TEXT?)
SELECT r.reportId, r.observedOn, r.speciesId, r.placeId, r.lengthUm / 1000.0 AS lengthMm, r.method,
    r.referenceId, r.sizeResult, r.isBorderline, r.dateResult, r.photoId, r.note
FROM (
    SELECT reportId FROM counted WHERE review IS NULL ORDER BY observedOn, reportId LIMIT :most
) AS n JOIN report AS r USING (reportId)
ORDER BY r.observedOn, r.reportId;
