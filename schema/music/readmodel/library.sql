-- readmodel library version 2: the tracks with corrected tags
-- Tags as they were read last. A track that was removed keeps its row until it is read again.
CREATE TABLE tag (
    trackId TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    artistName TEXT NOT NULL,
    albumTitle TEXT,
    albumArtistName TEXT,
    composerName TEXT,
    discNo INT,
    trackNo INT,
    durationMs INT,
    year INT,
    compilation INT,
    mbRecordingId TEXT,
    locator TEXT,
    isPresent INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What people corrected, each field by itself; an empty text is a field that holds nothing.
CREATE TABLE track_edit (
    trackId TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (trackId, field)
) STRICT, WITHOUT ROWID;

-- The two together: a correction holds even if the file is read again.
CREATE TABLE track (
    trackId TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    artistName TEXT NOT NULL,
    albumTitle TEXT,
    albumArtist TEXT NOT NULL,
    composerName TEXT,
    genre TEXT,
    discNo INT,
    trackNo INT,
    durationMs INT,
    year INT,
    isPresent INT NOT NULL
) STRICT;

CREATE INDEX track_artist ON track (artistName);
CREATE INDEX track_album ON track (albumArtist, albumTitle, discNo, trackNo);
-- For tracks that are one recording, and for covers.
CREATE INDEX track_same ON track (title, artistName, durationMs);
CREATE INDEX track_cover ON track (title, composerName);

CREATE VIRTUAL TABLE track_text USING fts5(
    title, artistName, albumTitle, content='track', tokenize='unicode61 remove_diacritics 2'
);

CREATE TRIGGER track_added AFTER INSERT ON track BEGIN
    INSERT INTO track_text (rowid, title, artistName, albumTitle)
    VALUES (new.rowid, new.title, new.artistName, new.albumTitle);
END;

CREATE TRIGGER track_deleted AFTER DELETE ON track BEGIN
    INSERT INTO track_text (track_text, rowid, title, artistName, albumTitle)
    VALUES ('delete', old.rowid, old.title, old.artistName, old.albumTitle);
END;

CREATE TRIGGER track_changed AFTER UPDATE ON track BEGIN
    INSERT INTO track_text (track_text, rowid, title, artistName, albumTitle)
    VALUES ('delete', old.rowid, old.title, old.artistName, old.albumTitle);
    INSERT INTO track_text (rowid, title, artistName, albumTitle)
    VALUES (new.rowid, new.title, new.artistName, new.albumTitle);
END;

-- Tags with the corrections.
CREATE VIEW corrected AS
SELECT trackId, title, artistName, albumTitle,
    coalesce(albumArtistName, iif(isCompilation, 'Various Artists', artistName)) AS albumArtist,
    composerName, genre, discNo, trackNo, durationMs, year, isPresent
FROM (
    SELECT t.trackId, t.durationMs, t.isPresent,
        coalesce(max(iif(e.field = 'title', e.value, NULL)), t.title) AS title,
        coalesce(max(iif(e.field = 'artistName', e.value, NULL)), t.artistName) AS artistName,
        nullif(
            coalesce(max(iif(e.field = 'albumTitle', e.value, NULL)), t.albumTitle), ''
        ) AS albumTitle,
        nullif(
            coalesce(max(iif(e.field = 'albumArtistName', e.value, NULL)), t.albumArtistName), ''
        ) AS albumArtistName,
        nullif(
            coalesce(max(iif(e.field = 'composerName', e.value, NULL)), t.composerName), ''
        ) AS composerName,
        nullif(max(iif(e.field = 'genre', e.value, NULL)), '') AS genre,
        nullif(coalesce(max(iif(e.field = 'discNo', e.value, NULL)), t.discNo), '') AS discNo,
        nullif(coalesce(max(iif(e.field = 'trackNo', e.value, NULL)), t.trackNo), '') AS trackNo,
        nullif(coalesce(max(iif(e.field = 'year', e.value, NULL)), t.year), '') AS year,
        coalesce(max(iif(e.field = 'compilation', e.value, NULL)), '' || t.compilation) = '1'
            AS isCompilation
    FROM tag AS t LEFT JOIN track_edit AS e ON e.trackId = t.trackId
    GROUP BY t.trackId
);

-- on music.track.imported
INSERT INTO tag VALUES (
    :trackId, :title, :artistName, :albumTitle, :albumArtistName, :composerName, :discNo,
    :trackNo, :durationMs, :year, :compilation, :mbRecordingId, :locator, 1, :_stamp
)
ON CONFLICT (trackId) DO UPDATE
SET title = excluded.title, artistName = excluded.artistName, albumTitle = excluded.albumTitle,
    albumArtistName = excluded.albumArtistName, composerName = excluded.composerName,
    discNo = excluded.discNo, trackNo = excluded.trackNo, durationMs = excluded.durationMs,
    year = excluded.year, compilation = excluded.compilation,
    mbRecordingId = excluded.mbRecordingId, locator = excluded.locator, isPresent = 1,
    stamp = excluded.stamp
WHERE excluded.stamp > stamp;
-- derived
INSERT INTO track SELECT * FROM corrected WHERE trackId = :trackId
ON CONFLICT (trackId) DO UPDATE
SET title = excluded.title, artistName = excluded.artistName, albumTitle = excluded.albumTitle,
    albumArtist = excluded.albumArtist, composerName = excluded.composerName,
    genre = excluded.genre, discNo = excluded.discNo, trackNo = excluded.trackNo,
    durationMs = excluded.durationMs, year = excluded.year, isPresent = excluded.isPresent;

-- on music.track.edited
INSERT INTO track_edit
SELECT :trackId, column1, column2, :_stamp
FROM (
    VALUES ('title', :title), ('artistName', :artistName),
        ('albumTitle', iif(instr(:unset, '"albumTitle"'), '', :albumTitle)),
        ('albumArtistName', iif(instr(:unset, '"albumArtistName"'), '', :albumArtistName)),
        ('composerName', iif(instr(:unset, '"composerName"'), '', :composerName)),
        ('genre', iif(instr(:unset, '"genre"'), '', :genre)),
        ('discNo', iif(instr(:unset, '"discNo"'), '', :discNo)),
        ('trackNo', iif(instr(:unset, '"trackNo"'), '', :trackNo)),
        ('year', iif(instr(:unset, '"year"'), '', :year)),
        ('compilation', iif(instr(:unset, '"compilation"'), '', :compilation))
)
WHERE column2 IS NOT NULL
ON CONFLICT (trackId, field) DO UPDATE
SET value = excluded.value, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
-- derived
INSERT INTO track SELECT * FROM corrected WHERE trackId = :trackId
ON CONFLICT (trackId) DO UPDATE
SET title = excluded.title, artistName = excluded.artistName, albumTitle = excluded.albumTitle,
    albumArtist = excluded.albumArtist, composerName = excluded.composerName,
    genre = excluded.genre, discNo = excluded.discNo, trackNo = excluded.trackNo,
    durationMs = excluded.durationMs, year = excluded.year, isPresent = excluded.isPresent;

-- on music.track.removed
UPDATE tag SET isPresent = 0, stamp = :_stamp WHERE trackId = :trackId AND :_stamp > stamp;
-- derived
INSERT INTO track SELECT * FROM corrected WHERE trackId = :trackId
ON CONFLICT (trackId) DO UPDATE
SET title = excluded.title, artistName = excluded.artistName, albumTitle = excluded.albumTitle,
    albumArtist = excluded.albumArtist, composerName = excluded.composerName,
    genre = excluded.genre, discNo = excluded.discNo, trackNo = excluded.trackNo,
    durationMs = excluded.durationMs, year = excluded.year, isPresent = excluded.isPresent;
