-- query old-app-reports(since INTEGER): what the old app sent since then, to find repetitions
-- Since is in milliseconds; a report of the old app is of the day on which it came.
-- answers (reportId TEXT, at TIME, speciesId TEXT, placeId TEXT, lengthUm INTEGER,
--   sizeResult RecordedSizeResult, dateResult DateResult, origin RecordedOrigin,
--   production Production)
-- example since=0
SELECT reportId, at, speciesId, placeId, lengthUm, sizeResult, dateResult, origin, production
FROM report
WHERE observedOn >= date(:since / 1000 - 86400, 'unixepoch') AND source = 'legacy_http'
    AND at >= :since
ORDER BY at DESC, reportId;
