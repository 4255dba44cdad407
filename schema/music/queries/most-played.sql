-- query most-played(first DATE, last DATE, most INTEGER = 20): tracks by how often they were heard
SELECT d.trackId, t.title, t.artistName, sum(d.plays) AS plays, sum(d.completed) AS completed,
    sum(d.listenedMs) / 1000 AS listenedSeconds, max(d.day) AS lastOn
FROM listening_day AS d LEFT JOIN track AS t USING (trackId)
WHERE d.day BETWEEN :first AND :last
GROUP BY d.trackId
HAVING sum(d.plays) > 0
ORDER BY plays DESC, listenedSeconds DESC, d.trackId LIMIT :most;
