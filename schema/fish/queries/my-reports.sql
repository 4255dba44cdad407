-- query my-reports(user TEXT): what a user filed, with its last review
SELECT r.reportId, r.observedOn, s.nameIt, r.lengthUm / 1000.0 AS lengthMm, r.sizeResult,
    r.dateResult, coalesce(p.name || ' (' || m.name || ')', p.name, r.placeId) AS town, r.status,
    r.review
FROM report AS r
LEFT JOIN species AS s USING (speciesId)
LEFT JOIN place AS p USING (placeId)
LEFT JOIN place AS m ON m.placeId = p.parentId
WHERE r.actor = :user
ORDER BY r.observedOn DESC, r.stamp DESC;
