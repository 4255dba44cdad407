-- query my-reports(user TEXT): what a user filed, with its last review; doubles are marked
SELECT r.reportId, r.observedOn, s.nameIt, r.lengthUm / 1000.0 AS lengthMm, r.sizeResult,
    r.dateResult, coalesce(p.name || ' (' || m.name || ')', p.name, r.placeId) AS town,
    CASE
        WHEN r.isWithdrawn THEN 'withdrawn'
        WHEN r.reportId NOT IN (SELECT reportId FROM counted WHERE actor = :user) THEN 'double'
        ELSE 'filed'
    END AS status,
    (
        SELECT outcome FROM review AS v WHERE v.reportId = r.reportId
        ORDER BY v.stamp DESC LIMIT 1
    ) AS review
FROM report AS r
LEFT JOIN species AS s USING (speciesId)
LEFT JOIN place AS p USING (placeId)
LEFT JOIN place AS m ON m.placeId = p.parentId
WHERE r.actor = :user
ORDER BY r.observedOn DESC, r.stamp DESC;
