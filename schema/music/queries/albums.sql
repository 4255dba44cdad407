-- query albums(artist TEXT): the albums of an artist, and those of others with tracks by them
SELECT a.title, a.artistName AS albumArtist, min(t.year) AS year, a.tracks,
    a.durationMs / 1000 AS seconds, a.artistName <> :artist AS isGuest
FROM album AS a JOIN track AS t ON t.albumArtist = a.artistName AND t.albumTitle = a.title
WHERE a.tracks > 0 AND t.isPresent = 1 AND (a.artistName = :artist OR t.artistName = :artist)
GROUP BY a.artistName, a.title
ORDER BY isGuest, year, a.title, a.artistName;
