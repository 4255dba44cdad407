-- query places(placeId TEXT of places = NULL): the municipalities, each with its hamlets after it
-- Those that were retired only if one asks for them. A report names a place without others in it.
-- answers (placeId TEXT, parentId TEXT?, name TEXT, municipality TEXT?, aliases TEXT[]?,
--   oldName TEXT, latE7 INTEGER?, lonE7 INTEGER?, isLeaf BOOLEAN, isRetired BOOLEAN)
WITH p AS (
    SELECT p.*,
        EXISTS (
            SELECT 1 FROM retirement AS r
            WHERE r.kind = 'place' AND r.id = p.placeId AND r.stamp > p.stamp
        ) AS isRetired,
        NOT EXISTS (SELECT 1 FROM place AS c WHERE c.parentId = p.placeId) AS isLeaf
    FROM place AS p
)
SELECT p.placeId, p.parentId, p.name, m.name AS municipality, p.aliases,
    coalesce(p.aliases ->> 0, p.name) || coalesce(' (' || m.name || ')', '') AS oldName,
    p.latE7, p.lonE7, p.isLeaf, p.isRetired
FROM p LEFT JOIN place AS m ON m.placeId = p.parentId
WHERE iif(:placeId IS NULL, p.isRetired = 0, p.placeId = :placeId)
ORDER BY coalesce(m.name, p.name), m.placeId IS NOT NULL, p.name, p.placeId;
