-- query playlists(): all playlists, with how many entries they have
SELECT playlistId, name, mode, (
        SELECT count(*) FROM item AS i WHERE i.playlistId = p.playlistId AND i.isRemoved = 0
    ) AS entries, note, actor
FROM playlist AS p
WHERE isDeleted = 0
ORDER BY name, playlistId;
