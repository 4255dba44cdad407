-- query most-visited(most INTEGER = 5): the zones opened most often that have no star yet
SELECT v.zoneId, z.title, v.opened, v.openedByPosition, v.inspected, v.dwellMs / 1000 AS seconds,
    v.lastAt
FROM zone_visit AS v
LEFT JOIN zone AS z USING (zoneId)
LEFT JOIN favourite AS f USING (zoneId)
WHERE v.opened > 0 AND f.isBookmarked IS NOT 1
ORDER BY v.opened DESC, v.lastAt DESC, v.zoneId LIMIT :most;
