-- query albums(artist TEXT = NULL): the albums of an artist, and those they are guests on; or all
WITH found AS (
    SELECT albumArtist, albumTitle FROM track WHERE albumArtist = :artist
    UNION SELECT albumArtist, albumTitle FROM track WHERE artistName = :artist
    UNION SELECT artistName, title FROM album WHERE :artist IS NULL
)
SELECT a.title, a.artistName AS albumArtist, a.tracks, a.durationMs / 1000 AS seconds,
    a.artistName IS NOT coalesce(:artist, a.artistName) AS isGuest,
    (
        SELECT min(t.year) FROM track AS t
        WHERE t.albumArtist = a.artistName AND t.albumTitle = a.title AND t.isPresent = 1
    ) AS year
FROM found AS f JOIN album AS a ON a.artistName = f.albumArtist AND a.title = f.albumTitle
WHERE a.tracks > 0
ORDER BY isGuest, a.artistName, year, a.title;
