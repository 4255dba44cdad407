-- readmodel plan version 1: the plans, with their places, how these are found, and their corners
-- A name, and whether the plan is there, have stamps of their own.
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
    nameStamp BLOB NOT NULL,
    removalStamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A place that was removed keeps its row: pins that stood for it show the title it had. What can be
-- corrected by itself has a stamp of its own.
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
    parentStamp BLOB NOT NULL,
    codeStamp BLOB NOT NULL,
    titleStamp BLOB NOT NULL,
    subtitleStamp BLOB NOT NULL,
    centreStamp BLOB NOT NULL,
    outlineStamp BLOB NOT NULL
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
    :_stamp, :_stamp
)
ON CONFLICT (mapId) DO NOTHING;

-- on maps.map.renamed
UPDATE map SET name = :name, nameStamp = :_stamp
WHERE mapId = :mapId AND :_stamp > nameStamp;

-- on maps.map.removed
UPDATE map SET isRemoved = 1, removalStamp = :_stamp
WHERE mapId = :mapId AND :_stamp > removalStamp;

-- on maps.map.restored
UPDATE map SET isRemoved = 0, removalStamp = :_stamp
WHERE mapId = :mapId AND :_stamp > removalStamp;

-- on maps.place.added
INSERT INTO place VALUES (
    :placeId, :mapId, :kind, :parentId, :code, :title, :subtitle, :xMpx, :yMpx, :outline, 0,
    :_stamp, :_stamp, :_stamp, :_stamp, :_stamp, :_stamp
)
ON CONFLICT (placeId) DO NOTHING;

-- on maps.place.edited
UPDATE place SET parentId = :parentId, parentStamp = :_stamp
WHERE placeId = :placeId AND :parentId IS NOT NULL AND :_stamp > parentStamp;
UPDATE place SET code = :code, codeStamp = :_stamp
WHERE placeId = :placeId AND :code IS NOT NULL AND :_stamp > codeStamp;
UPDATE place SET title = :title, titleStamp = :_stamp
WHERE placeId = :placeId AND :title IS NOT NULL AND :_stamp > titleStamp;
UPDATE place SET subtitle = :subtitle, subtitleStamp = :_stamp
WHERE placeId = :placeId AND :subtitle IS NOT NULL AND :_stamp > subtitleStamp;

-- on maps.place.moved
UPDATE place SET xMpx = :xMpx, yMpx = :yMpx, centreStamp = :_stamp
WHERE placeId = :placeId AND :_stamp > centreStamp;

-- on maps.place.reshaped
UPDATE place SET outline = :outline, outlineStamp = :_stamp
WHERE placeId = :placeId AND :_stamp > outlineStamp;

-- on maps.place.removed
UPDATE place SET isRemoved = 1 WHERE placeId = :placeId;
