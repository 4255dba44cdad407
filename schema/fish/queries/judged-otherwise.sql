-- query judged-otherwise(): reports that the catalogue of today would judge otherwise
SELECT reportId, observedOn, speciesId, lengthUm / 1000.0 AS lengthMm, sizeResult, sizeToday,
    dateResult, dateToday
FROM (
    SELECT r.*,
        CASE
            WHEN s.minSizeUm IS NULL THEN 'not_required'
            WHEN r.lengthUm >= s.minSizeUm THEN 'ok'
            WHEN s.minSizeKind = 'recommended' THEN 'below_recommended'
            ELSE 'undersize'
        END AS sizeToday,
        iif(
            (s.seasonMask >> (substr(r.observedOn, 6, 2) - 1)) & 1, 'reproducing', 'in_season'
        ) AS dateToday
    FROM report AS r JOIN species AS s USING (speciesId)
    WHERE r.isWithdrawn = 0
)
WHERE (sizeResult <> sizeToday AND sizeResult <> 'borderline') OR dateResult <> dateToday
ORDER BY observedOn, reportId;
