-- query maps(): the plans, with how many places they have, and whether they lie on the earth
SELECT m.mapId, m.name, m.widthMpx / 1000 AS widthPx, m.heightMpx / 1000 AS heightPx,
    (SELECT count(*) FROM place AS p WHERE p.mapId = m.mapId AND p.isRemoved = 0) AS places,
    m.topLatE7 + m.leftLonE7 + m.bottomLatE7 + m.rightLonE7 IS NOT NULL AS isOnEarth
FROM map AS m
WHERE m.isRemoved = 0
ORDER BY m.name, m.mapId;
