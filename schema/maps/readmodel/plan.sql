-- readmodel plan version 1: the plans, with their places, how these are found, and their corners
-- A name, and whether the plan is there, have clocks of their own.
CREATE TABLE map (
    mapId TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    widthMpx INT NOT NULL,
    heightMpx INT NOT NULL,
    topLatE7 INT,
    leftLonE7 INT,
    bottomLatE7 INT,
    rightLonE7 INT,
    isRemoved INT NOT NULL,
    nameClock INT NOT NULL,
    nameReplica TEXT NOT NULL,
    nameSequence INT NOT NULL,
    removalClock INT NOT NULL,
    removalReplica TEXT NOT NULL,
    removalSequence INT NOT NULL
) STRICT, WITHOUT ROWID;

-- A place that was removed keeps its row: pins that stood for it show the title it had. What can be
-- corrected by itself has a clock of its own.
CREATE TABLE place (
    placeId TEXT NOT NULL PRIMARY KEY,
    mapId TEXT NOT NULL REFERENCES map (mapId),
    kind TEXT NOT NULL,
    parentId TEXT,
    code TEXT,
    title TEXT NOT NULL,
    subtitle TEXT,
    xMpx INT NOT NULL,
    yMpx INT NOT NULL,
    outline TEXT,
    isRemoved INT NOT NULL,
    parentClock INT NOT NULL,
    parentReplica TEXT NOT NULL,
    parentSequence INT NOT NULL,
    codeClock INT NOT NULL,
    codeReplica TEXT NOT NULL,
    codeSequence INT NOT NULL,
    titleClock INT NOT NULL,
    titleReplica TEXT NOT NULL,
    titleSequence INT NOT NULL,
    subtitleClock INT NOT NULL,
    subtitleReplica TEXT NOT NULL,
    subtitleSequence INT NOT NULL,
    centreClock INT NOT NULL,
    centreReplica TEXT NOT NULL,
    centreSequence INT NOT NULL,
    outlineClock INT NOT NULL,
    outlineReplica TEXT NOT NULL,
    outlineSequence INT NOT NULL
) STRICT;

CREATE INDEX place_map ON place (mapId);

CREATE VIRTUAL TABLE place_text USING fts5(
    code, title, subtitle, content='place', tokenize='unicode61 remove_diacritics 2'
);

-- The centres of places that are there, for taps.
CREATE VIRTUAL TABLE place_box USING rtree_i32(id, minX, maxX, minY, maxY);

CREATE TRIGGER place_added AFTER INSERT ON place BEGIN
    INSERT INTO place_text (rowid, code, title, subtitle)
    VALUES (new.rowid, new.code, new.title, new.subtitle);
    INSERT INTO place_box
    SELECT new.rowid, new.xMpx, new.xMpx, new.yMpx, new.yMpx WHERE new.isRemoved = 0;
END;

CREATE TRIGGER place_deleted AFTER DELETE ON place BEGIN
    INSERT INTO place_text (place_text, rowid, code, title, subtitle)
    VALUES ('delete', old.rowid, old.code, old.title, old.subtitle);
    DELETE FROM place_box WHERE id = old.rowid;
END;

CREATE TRIGGER place_renamed AFTER UPDATE OF code, title, subtitle ON place BEGIN
    INSERT INTO place_text (place_text, rowid, code, title, subtitle)
    VALUES ('delete', old.rowid, old.code, old.title, old.subtitle);
    INSERT INTO place_text (rowid, code, title, subtitle)
    VALUES (new.rowid, new.code, new.title, new.subtitle);
END;

CREATE TRIGGER place_shifted AFTER UPDATE OF xMpx, yMpx, isRemoved ON place BEGIN
    DELETE FROM place_box WHERE id = old.rowid;
    INSERT INTO place_box
    SELECT new.rowid, new.xMpx, new.xMpx, new.yMpx, new.yMpx WHERE new.isRemoved = 0;
END;

-- on maps.map.created
INSERT INTO map VALUES (
    :mapId, :name, :widthMpx, :heightMpx, :topLatE7, :leftLonE7, :bottomLatE7, :rightLonE7, 0,
    :_clock, :_replica, :_sequence, :_clock, :_replica, :_sequence
)
ON CONFLICT (mapId) DO NOTHING;

-- on maps.map.renamed
UPDATE map
SET name = :name, nameClock = :_clock, nameReplica = :_replica, nameSequence = :_sequence
WHERE mapId = :mapId AND (:_clock, :_replica, :_sequence) > (nameClock, nameReplica, nameSequence);

-- on maps.map.removed
UPDATE map
SET isRemoved = 1,
    removalClock = :_clock, removalReplica = :_replica, removalSequence = :_sequence
WHERE mapId = :mapId
    AND (:_clock, :_replica, :_sequence) > (removalClock, removalReplica, removalSequence);

-- on maps.map.restored
UPDATE map
SET isRemoved = 0,
    removalClock = :_clock, removalReplica = :_replica, removalSequence = :_sequence
WHERE mapId = :mapId
    AND (:_clock, :_replica, :_sequence) > (removalClock, removalReplica, removalSequence);

-- on maps.place.added
INSERT INTO place VALUES (
    :placeId, :mapId, :kind, :parentId, :code, :title, :subtitle, :xMpx, :yMpx, :outline, 0,
    :_clock, :_replica, :_sequence, :_clock, :_replica, :_sequence,
    :_clock, :_replica, :_sequence, :_clock, :_replica, :_sequence,
    :_clock, :_replica, :_sequence, :_clock, :_replica, :_sequence
)
ON CONFLICT (placeId) DO NOTHING;

-- on maps.place.edited
UPDATE place
SET parentId = :parentId,
    parentClock = :_clock, parentReplica = :_replica, parentSequence = :_sequence
WHERE placeId = :placeId AND :parentId IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (parentClock, parentReplica, parentSequence);
UPDATE place
SET code = :code,
    codeClock = :_clock, codeReplica = :_replica, codeSequence = :_sequence
WHERE placeId = :placeId AND :code IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (codeClock, codeReplica, codeSequence);
UPDATE place
SET title = :title,
    titleClock = :_clock, titleReplica = :_replica, titleSequence = :_sequence
WHERE placeId = :placeId AND :title IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (titleClock, titleReplica, titleSequence);
UPDATE place
SET subtitle = :subtitle,
    subtitleClock = :_clock, subtitleReplica = :_replica, subtitleSequence = :_sequence
WHERE placeId = :placeId AND :subtitle IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (subtitleClock, subtitleReplica, subtitleSequence);

-- on maps.place.moved
UPDATE place
SET xMpx = :xMpx, yMpx = :yMpx,
    centreClock = :_clock, centreReplica = :_replica, centreSequence = :_sequence
WHERE placeId = :placeId
    AND (:_clock, :_replica, :_sequence) > (centreClock, centreReplica, centreSequence);

-- on maps.place.reshaped
UPDATE place
SET outline = :outline,
    outlineClock = :_clock, outlineReplica = :_replica, outlineSequence = :_sequence
WHERE placeId = :placeId
    AND (:_clock, :_replica, :_sequence) > (outlineClock, outlineReplica, outlineSequence);

-- on maps.place.removed
UPDATE place SET isRemoved = 1 WHERE placeId = :placeId;
