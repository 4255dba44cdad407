-- query to-pixels(mapId TEXT, latE7 INTEGER, lonE7 INTEGER): where a position lies on a plan
SELECT x AS xPx, y AS yPx,
    x >= 0 AND y >= 0 AND x * 1000 < widthMpx AND y * 1000 < heightMpx AS isInside
FROM (
    SELECT widthMpx, heightMpx,
        (:lonE7 - leftLonE7) * widthMpx / 1000.0 / nullif(rightLonE7 - leftLonE7, 0) AS x,
        (topLatE7 - :latE7) * heightMpx / 1000.0 / nullif(topLatE7 - bottomLatE7, 0) AS y
    FROM map WHERE mapId = :mapId
)
WHERE x IS NOT NULL AND y IS NOT NULL;
