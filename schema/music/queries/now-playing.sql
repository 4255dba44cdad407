-- query now-playing(user TEXT): what a user hears, or has paused
SELECT p.playId, p.trackId, t.title, t.artistName, p.state, p.positionMs, t.durationMs,
    p.playlistId, p.itemId, p.output
FROM play AS p LEFT JOIN track AS t USING (trackId)
WHERE p.actor = :user
    AND p.startedAt = (SELECT max(startedAt) FROM play AS q WHERE q.actor = :user)
    AND p.state IN ('playing', 'paused')
ORDER BY p.playId;
