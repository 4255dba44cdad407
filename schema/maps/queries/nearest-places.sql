-- query nearest-places(mapId TEXT, xMpx INTEGER, yMpx INTEGER, mostMpx INTEGER = 22000): near a tap
SELECT p.placeId, p.kind, p.code, p.title, p.subtitle, p.xMpx, p.yMpx,
    sqrt(1.0 * (p.xMpx - :xMpx) * (p.xMpx - :xMpx) + 1.0 * (p.yMpx - :yMpx) * (p.yMpx - :yMpx))
        AS distanceMpx
-- CROSS JOIN asks the index first, whatever the sizes of the tables are thought to be.
FROM place_box AS b
CROSS JOIN place AS p ON p.rowid = b.id
JOIN map AS m ON m.mapId = p.mapId
WHERE b.minX >= :xMpx - :mostMpx AND b.maxX <= :xMpx + :mostMpx
    AND b.minY >= :yMpx - :mostMpx AND b.maxY <= :yMpx + :mostMpx
    AND p.mapId = :mapId AND m.isRemoved = 0
ORDER BY distanceMpx, p.placeId;
