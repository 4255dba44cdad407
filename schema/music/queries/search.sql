-- query search(words TEXT, most INTEGER = 50): tracks by words of title, artist or album
-- All of the words, or words that begin so; signs mean nothing else.
SELECT t.trackId, t.title, t.artistName, t.albumTitle
FROM track_text AS x JOIN track AS t ON t.rowid = x.rowid
WHERE length(trim(:words)) >= 2 AND t.isPresent = 1
    AND track_text MATCH '"' || replace(replace(:words, '"', ' '), ' ', '" * "') || '" *'
ORDER BY x.rank, t.title, t.trackId LIMIT :most;
