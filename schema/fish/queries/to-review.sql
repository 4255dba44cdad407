-- query to-review(most INTEGER = 50): reports that count and that no researcher has looked at
SELECT reportId, observedOn, speciesId, placeId, lengthUm / 1000.0 AS lengthMm, method, referenceId,
    sizeResult, isBorderline, dateResult, photoId, note
FROM counted
WHERE review IS NULL
ORDER BY observedOn, reportId LIMIT :most;
