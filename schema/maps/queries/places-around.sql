-- query places-around(mapId TEXT, xMpx INTEGER, yMpx INTEGER): what a point lies in
WITH edge AS (
    SELECT p.placeId, json_extract(a.value, '$.xMpx') AS x, json_extract(a.value, '$.yMpx') AS y,
        json_extract(b.value, '$.xMpx') AS nextX, json_extract(b.value, '$.yMpx') AS nextY
    FROM place AS p JOIN json_each(p.outline) AS a
    JOIN json_each(p.outline) AS b ON b.key = (a.key + 1) % json_array_length(p.outline)
    WHERE p.mapId = :mapId AND p.isRemoved = 0
)
SELECT p.placeId, p.kind, p.code, p.title, abs(sum(x * nextY - nextX * y)) / 2e6 AS areaPx
FROM edge AS e JOIN place AS p USING (placeId)
GROUP BY p.placeId
-- Inside if a ray to the right crosses an odd number of edges.
HAVING sum(
    (y > :yMpx) <> (nextY > :yMpx)
    AND :xMpx < x + 1.0 * (:yMpx - y) * (nextX - x) / (nextY - y)
) % 2 = 1
ORDER BY areaPx, p.placeId;
