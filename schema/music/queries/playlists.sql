-- query playlists(): all playlists, with how many entries they have
SELECT playlistId, name, mode, entries, note, actor FROM playlist
WHERE isDeleted = 0
ORDER BY name, playlistId;
