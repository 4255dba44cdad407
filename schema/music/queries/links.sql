-- query links(trackId TEXT): the same recording elsewhere, other versions, and covers by others
SELECT u.trackId, u.title, u.artistName, u.albumTitle,
    CASE
        WHEN u.artistName = t.artistName AND abs(u.durationMs - t.durationMs) <= 4000
            THEN 'identical'
        WHEN u.artistName = t.artistName THEN 'version'
        ELSE 'cover'
    END AS kind,
    abs(u.durationMs - t.durationMs) AS differenceMs
FROM track AS t JOIN track AS u ON u.title = t.title AND u.trackId <> t.trackId
WHERE t.trackId = :trackId AND t.isPresent = 1 AND u.isPresent = 1 AND t.title <> ''
    AND (
        u.composerName = t.composerName
        OR (u.artistName = t.artistName AND abs(u.durationMs - t.durationMs) <= 4000)
    )
ORDER BY instr('identical version cover', kind), u.trackId;
