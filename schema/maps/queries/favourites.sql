-- query favourites(user TEXT): what a visitor wants to find again
SELECT f.refKind, f.refId, p.title, p.code, p.mapId, p.xMpx, p.yMpx, min(f.at) AS since,
    coalesce(p.isRemoved, 0) AS isPlaceGone
FROM favourite AS f
LEFT JOIN place AS p ON f.refKind = 'place' AND p.placeId = f.refId
WHERE f.actor = :user
GROUP BY f.refKind, f.refId
ORDER BY p.title, f.refKind, f.refId;
