-- query allergies(user TEXT): what a user cannot have, and how often they were warned of it
SELECT coalesce(g.nameIt, a.ownWords, a.allergenId) AS name, g.nameEn, a.severity, a.note,
    (
        SELECT count(*) FROM alert AS w WHERE w.actor = :user AND w.allergenId = a.allergenId
    ) AS alerts,
    a.allergyId
FROM allergy AS a LEFT JOIN allergen AS g USING (allergenId)
WHERE a.actor = :user AND a.isRemoved = 0
ORDER BY name, a.allergyId;
