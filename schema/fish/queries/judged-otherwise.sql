-- query judged-otherwise(): reports that the catalogue as it is now would judge otherwise
-- For the day and zone of each report.
-- answers (reportId TEXT, observedOn DATE, speciesId TEXT, lengthMm REAL,
--   sizeResult RecordedSizeResult, sizeToday SizeResult, dateResult DateResult,
--   dateToday DateResult)
WITH m AS (
    SELECT speciesId, minSizeKind, minSizeUm, validFrom, coalesce(
        (
            SELECT min(validFrom) FROM minimum AS n
            WHERE n.speciesId = o.speciesId AND n.validFrom > o.validFrom
        ), '9999-99'
    ) AS validTo FROM minimum AS o
), e AS (
    SELECT speciesId, zoneId, seasonMask, validFrom, coalesce(
        (
            SELECT min(validFrom) FROM season AS n
            WHERE n.speciesId = o.speciesId AND n.zoneId = o.zoneId AND n.validFrom > o.validFrom
        ), '9999-99'
    ) AS validTo FROM season AS o
), j AS (
    SELECT r.reportId, r.observedOn, r.speciesId, r.lengthUm, r.sizeResult, r.dateResult,
        CASE
            WHEN m.minSizeKind = 'none' THEN 'not_required'
            WHEN r.lengthUm >= m.minSizeUm THEN 'ok'
            WHEN m.minSizeKind = 'recommended' THEN 'below_recommended'
            ELSE 'undersize'
        END AS sizeToday,
        iif(
            (coalesce(z.seasonMask, e.seasonMask) >> (substr(r.observedOn, 6, 2) - 1)) & 1,
            'reproducing', 'in_season'
        ) AS dateToday
    FROM m CROSS JOIN e ON e.speciesId = m.speciesId AND e.zoneId = '*'
    CROSS JOIN counted AS r ON r.speciesId = m.speciesId
        AND r.observedOn >= max(m.validFrom, e.validFrom)
        AND r.observedOn < min(m.validTo, e.validTo)
    LEFT JOIN e AS z ON z.speciesId = r.speciesId AND z.zoneId = r.zoneId AND z.zoneId <> '*'
        AND r.observedOn >= z.validFrom AND r.observedOn < z.validTo
)
SELECT reportId, observedOn, speciesId, lengthUm / 1000.0 AS lengthMm, sizeResult, sizeToday,
    dateResult, dateToday
FROM j
WHERE (sizeResult <> sizeToday AND sizeResult <> 'unknown') OR dateResult <> dateToday
ORDER BY observedOn, reportId;
