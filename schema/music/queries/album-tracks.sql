-- query album-tracks(artist TEXT, album TEXT): the tracks of an album in its order
SELECT trackId, discNo, trackNo, title, artistName, durationMs, year
FROM track
WHERE albumArtist = :artist AND albumTitle = :album AND isPresent = 1
ORDER BY discNo NULLS LAST, trackNo NULLS LAST, title, trackId;
