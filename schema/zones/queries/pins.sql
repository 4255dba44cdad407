-- query pins(zoneId TEXT = NULL): points that are kept at hand, of a zone or of all
SELECT p.pointKey, p.zoneId, z.title, p.label, coalesce(v.inspected, 0) AS inspected, v.lastAt,
    (SELECT count(*) FROM note AS n WHERE n.pointKey = p.pointKey) AS notes
FROM pin AS p
LEFT JOIN zone AS z USING (zoneId)
LEFT JOIN point_visit AS v USING (pointKey)
WHERE p.isPinned = 1 AND (:zoneId IS NULL OR p.zoneId = :zoneId)
ORDER BY z.title, p.label, p.pointKey;
