-- query judged(speciesId TEXT, first DATE?): counted reports of a species, and what judged them
-- The zone is that whose season holds for the report.
-- answers (reportId TEXT, observedOn DATE, lengthUm INTEGER, minSizeUm INTEGER?,
--   minSizeKind RecordedMinSizeKind, seasonMask INTEGER?, zoneId TEXT,
--   sizeResult RecordedSizeResult, dateResult DateResult)
-- example speciesId='sardina'
SELECT r.reportId, r.observedOn, r.lengthUm, r.minSizeUm, r.minSizeKind, r.seasonMask,
    iif(
        EXISTS (
            SELECT 1 FROM season AS e
            WHERE e.speciesId = r.speciesId AND e.zoneId = r.zoneId AND e.validFrom <= r.observedOn
        ), r.zoneId, '*'
    ) AS zoneId, r.sizeResult, r.dateResult
FROM counted AS r
WHERE r.speciesId = :speciesId AND r.observedOn >= coalesce(:first, '')
ORDER BY r.observedOn, r.reportId;
