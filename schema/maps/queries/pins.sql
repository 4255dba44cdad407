-- query pins(user TEXT, mapId TEXT, left INTEGER, top INTEGER, right INTEGER, bottom INTEGER): seen
SELECT n.pinId, n.xMpx, n.yMpx, coalesce(n.title, p.title) AS title, p.subtitle, n.note, n.placeId,
    n.via, coalesce(p.isRemoved, 0) AS isPlaceGone
-- CROSS JOIN asks the index first, whatever the sizes of the tables are thought to be.
FROM pin_box AS b
CROSS JOIN pin AS n ON n.rowid = b.id
LEFT JOIN place AS p USING (placeId)
WHERE b.minX >= :left AND b.maxX <= :right AND b.minY >= :top AND b.maxY <= :bottom
    AND n.actor = :user AND n.mapId = :mapId
-- Those that lie lower are drawn over others.
ORDER BY n.yMpx, n.pinId;
