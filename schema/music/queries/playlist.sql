-- query playlist(playlistId TEXT): the entries of a playlist in their order
WITH RECURSIVE
-- Who were put at one place at the same time stand in the order of their clocks.
child AS (
    SELECT slotId, parentId, isLeft, row_number() OVER (
        PARTITION BY parentId, isLeft ORDER BY iif(isLeft, stamp, NULL), stamp DESC
    ) AS place
    FROM slot WHERE playlistId = :playlistId
),
-- One character for each step: left sides sort before a slot itself, right sides after it.
walk (slotId, path) AS (
    SELECT slotId, char(65536 + place) FROM child WHERE parentId IS NULL
    UNION ALL
    SELECT c.slotId, w.path || iif(c.isLeft, char(32 + c.place), char(65536 + c.place))
    FROM walk AS w JOIN child AS c ON c.parentId = w.slotId
)
SELECT i.itemId, t.title, t.artistName, t.durationMs, i.trackId, i.note, i.slotId,
    coalesce(t.isPresent, 0) AS isAvailable
FROM walk AS w
JOIN item AS i ON i.slotId = w.slotId
JOIN playlist AS p ON p.playlistId = i.playlistId
LEFT JOIN track AS t ON t.trackId = i.trackId
WHERE i.isRemoved = 0 AND p.isDeleted = 0
ORDER BY w.path || char(40000);
