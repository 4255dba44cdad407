-- query find-places(words TEXT, mapId TEXT = NULL): places by words of code, title or subtitle
-- All of the words, or words that begin so; signs mean nothing else.
SELECT p.placeId, p.mapId, p.kind, p.code, p.title, p.subtitle, q.title AS within, p.xMpx, p.yMpx
FROM place_text AS t
JOIN place AS p ON p.rowid = t.rowid
JOIN map AS m ON m.mapId = p.mapId
LEFT JOIN place AS q ON q.placeId = p.parentId
WHERE place_text MATCH '"' || replace(replace(:words, '"', ' '), ' ', '" * "') || '" *'
    AND p.isRemoved = 0 AND m.isRemoved = 0 AND (:mapId IS NULL OR p.mapId = :mapId)
ORDER BY bm25(place_text, 8, 5, 2), p.placeId;
