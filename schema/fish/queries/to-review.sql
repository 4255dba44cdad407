-- query to-review(most INTEGER = 50): reports that count and that no researcher has looked at
SELECT r.reportId, r.observedOn, r.speciesId, r.placeId, r.lengthUm / 1000.0 AS lengthMm, r.method,
    r.coin, r.sizeResult, r.dateResult, r.note
FROM counted AS r
WHERE r.isWithdrawn = 0
    AND NOT EXISTS (SELECT 1 FROM review AS v WHERE v.reportId = r.reportId)
ORDER BY r.observedOn, r.reportId LIMIT :most;
