-- query histogram(first DATE = NULL, last DATE = NULL, speciesId TEXT of species = NULL,
--     placeId TEXT of places = NULL): counted reports by distance from the minimum, in 5 mm
-- Only where there is a minimum; a length that is just enough is in the bin from 0.
-- answers (fromMm INTEGER, toMm INTEGER, reports INTEGER)
WITH b AS (
    SELECT (r.lengthUm - r.minSizeUm + 5000000) / 5000 - 1000 AS bin
    FROM counted AS r
    WHERE r.minSizeUm IS NOT NULL
        AND r.observedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
        AND (:speciesId IS NULL OR r.speciesId = :speciesId)
        AND (
            :placeId IS NULL
            OR r.placeId IN (
                SELECT placeId FROM place WHERE placeId = :placeId OR parentId = :placeId
            )
        )
)
SELECT bin * 5 AS fromMm, bin * 5 + 5 AS toMm, count(*) AS reports FROM b
GROUP BY bin ORDER BY bin;
