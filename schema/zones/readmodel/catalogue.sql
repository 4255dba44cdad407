-- readmodel catalogue version 1: the zones that servers offer, where they lie, and the classes
-- A zone that is offered no longer keeps its row, since what was downloaded of it stays.
CREATE TABLE zone (
    zoneId TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    minLatDeg REAL NOT NULL,
    minLonDeg REAL NOT NULL,
    maxLatDeg REAL NOT NULL,
    maxLonDeg REAL NOT NULL,
    featureCount INT,
    satellite TEXT,
    band TEXT,
    checkedAt INT NOT NULL,
    isOffered INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT;

-- A zone has the box with twice its number, and one more if it crosses the 180th meridian. Edges
-- are rounded outwards there, so who asks compares with the table. A box whose south lies north
-- of its north fits nowhere: such an event is set aside.
CREATE VIRTUAL TABLE zone_box USING rtree(id, minLon, maxLon, minLat, maxLat);

CREATE VIRTUAL TABLE zone_text USING fts5(
    title, content='zone', tokenize='unicode61 remove_diacritics 2'
);

CREATE TRIGGER zone_added AFTER INSERT ON zone BEGIN
    INSERT INTO zone_box
    SELECT 2 * new.rowid, new.minLonDeg,
        iif(new.minLonDeg <= new.maxLonDeg, new.maxLonDeg, 180), new.minLatDeg, new.maxLatDeg;
    INSERT INTO zone_box
    SELECT 2 * new.rowid + 1, -180, new.maxLonDeg, new.minLatDeg, new.maxLatDeg
    WHERE new.minLonDeg > new.maxLonDeg;
    INSERT INTO zone_text (rowid, title) VALUES (new.rowid, new.title);
END;

CREATE TRIGGER zone_deleted AFTER DELETE ON zone BEGIN
    DELETE FROM zone_box WHERE id = 2 * old.rowid;
    DELETE FROM zone_box WHERE id = 2 * old.rowid + 1;
    INSERT INTO zone_text (zone_text, rowid, title) VALUES ('delete', old.rowid, old.title);
END;

CREATE TRIGGER zone_changed AFTER UPDATE ON zone BEGIN
    DELETE FROM zone_box WHERE id = 2 * old.rowid;
    DELETE FROM zone_box WHERE id = 2 * old.rowid + 1;
    INSERT INTO zone_text (zone_text, rowid, title) VALUES ('delete', old.rowid, old.title);
    INSERT INTO zone_box
    SELECT 2 * new.rowid, new.minLonDeg,
        iif(new.minLonDeg <= new.maxLonDeg, new.maxLonDeg, 180), new.minLatDeg, new.maxLatDeg;
    INSERT INTO zone_box
    SELECT 2 * new.rowid + 1, -180, new.maxLonDeg, new.minLatDeg, new.maxLatDeg
    WHERE new.minLonDeg > new.maxLonDeg;
    INSERT INTO zone_text (rowid, title) VALUES (new.rowid, new.title);
END;

CREATE TABLE class (
    classId TEXT NOT NULL PRIMARY KEY,
    rank INT NOT NULL,
    lowNmPerYear INT,
    highNmPerYear INT,
    colour TEXT NOT NULL,
    nameIt TEXT,
    nameEn TEXT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- on zones.zone.catalogued
INSERT INTO zone VALUES (
    :zoneId, :title, :minLatDeg, :minLonDeg, :maxLatDeg, :maxLonDeg, :featureCount, :satellite,
    :band, :checkedAt, 1, :_stamp
)
ON CONFLICT (zoneId) DO UPDATE
SET title = excluded.title, minLatDeg = excluded.minLatDeg, minLonDeg = excluded.minLonDeg,
    maxLatDeg = excluded.maxLatDeg, maxLonDeg = excluded.maxLonDeg,
    featureCount = excluded.featureCount, satellite = excluded.satellite, band = excluded.band,
    checkedAt = excluded.checkedAt, isOffered = 1, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on zones.zone.withdrawn
UPDATE zone SET isOffered = 0, stamp = :_stamp
WHERE zoneId = :zoneId AND :_stamp > stamp;

-- on zones.class.defined
INSERT INTO class VALUES (
    :classId, :rank, :lowNmPerYear, :highNmPerYear, :colour, :nameIt, :nameEn, :_stamp
)
ON CONFLICT (classId) DO UPDATE
SET rank = excluded.rank, lowNmPerYear = excluded.lowNmPerYear,
    highNmPerYear = excluded.highNmPerYear, colour = excluded.colour, nameIt = excluded.nameIt,
    nameEn = excluded.nameEn, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
