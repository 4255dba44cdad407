-- query notes(pointKey TEXT): what people wrote at a point, and how often each note was changed
SELECT n.noteId, n.at, n.actor, n.text, n.velocityMmPerYear, n.coherence,
    (SELECT count(*) FROM note_version AS v WHERE v.noteId = n.noteId) - 1 AS changes
FROM note AS n
WHERE n.pointKey = :pointKey
ORDER BY n.at, n.noteId;
