-- query albums(artist TEXT = NULL): the albums of an artist, and those they are guests on; or all
WITH found AS (
    SELECT albumArtist, albumTitle FROM track WHERE albumArtist = :artist
    UNION SELECT albumArtist, albumTitle FROM track WHERE artistName = :artist
    UNION SELECT albumArtist, albumTitle FROM track WHERE :artist IS NULL
)
SELECT f.albumTitle AS title, f.albumArtist, count(*) AS tracks,
    sum(coalesce(t.durationMs, 0)) / 1000 AS seconds,
    f.albumArtist IS NOT coalesce(:artist, f.albumArtist) AS isGuest, min(t.year) AS year
FROM found AS f JOIN track AS t USING (albumArtist, albumTitle)
WHERE t.isPresent = 1
GROUP BY f.albumArtist, f.albumTitle
ORDER BY isGuest, f.albumArtist, year, f.albumTitle;
