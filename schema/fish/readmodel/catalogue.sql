-- readmodel catalogue version 2: species with their minimum sizes and seasons, coins, places, zones
-- Curators may define one thing twice: the later clock wins, then the replica, then the sequence.
CREATE TABLE species (
    speciesId TEXT NOT NULL PRIMARY KEY,
    ordinal INT,
    nameIt TEXT NOT NULL,
    nameEn TEXT,
    nameSci TEXT,
    family TEXT NOT NULL,
    measure TEXT NOT NULL,
    stamp BLOB NOT NULL
) STRICT;

-- The names are read from the table, so they are kept once.
CREATE VIRTUAL TABLE species_text USING fts5(
    nameIt, nameEn, nameSci, content='species', tokenize='unicode61 remove_diacritics 2'
);

CREATE TRIGGER species_added AFTER INSERT ON species BEGIN
    INSERT INTO species_text (rowid, nameIt, nameEn, nameSci)
    VALUES (new.rowid, new.nameIt, new.nameEn, new.nameSci);
END;

CREATE TRIGGER species_removed AFTER DELETE ON species BEGIN
    INSERT INTO species_text (species_text, rowid, nameIt, nameEn, nameSci)
    VALUES ('delete', old.rowid, old.nameIt, old.nameEn, old.nameSci);
END;

CREATE TRIGGER species_changed AFTER UPDATE ON species BEGIN
    INSERT INTO species_text (species_text, rowid, nameIt, nameEn, nameSci)
    VALUES ('delete', old.rowid, old.nameIt, old.nameEn, old.nameSci);
    INSERT INTO species_text (rowid, nameIt, nameEn, nameSci)
    VALUES (new.rowid, new.nameIt, new.nameEn, new.nameSci);
END;

-- Each holds from its day on, until the next one; a day that is empty comes before all days.
CREATE TABLE minimum (
    speciesId TEXT NOT NULL,
    validFrom TEXT NOT NULL,
    minSizeKind TEXT NOT NULL,
    minSizeUm INT,
    legalBasis TEXT,
    stamp BLOB NOT NULL,
    PRIMARY KEY (speciesId, validFrom)
) STRICT, WITHOUT ROWID;

-- A zone without a season of its own has that of the zone *, which is everywhere.
CREATE TABLE season (
    speciesId TEXT NOT NULL,
    zoneId TEXT NOT NULL,
    validFrom TEXT NOT NULL,
    seasonMask INT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (speciesId, zoneId, validFrom)
) STRICT, WITHOUT ROWID;

CREATE TABLE zone (
    zoneId TEXT NOT NULL PRIMARY KEY,
    nameIt TEXT NOT NULL,
    nameEn TEXT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE reference (
    referenceId TEXT NOT NULL PRIMARY KEY,
    nameIt TEXT NOT NULL,
    nameEn TEXT,
    shape TEXT NOT NULL,
    diameterUm INT,
    widthUm INT,
    heightUm INT,
    thicknessUm INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A municipality has no parent, a hamlet has one.
CREATE TABLE place (
    placeId TEXT NOT NULL PRIMARY KEY,
    parentId TEXT,
    name TEXT NOT NULL,
    aliases TEXT,
    latE7 INT,
    lonE7 INT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX place_parent ON place (parentId);

-- What is defined again after it was retired is back.
CREATE TABLE retirement (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- on fish.species.defined
INSERT INTO species VALUES (
    :speciesId, :ordinal, :nameIt, :nameEn, :nameSci, :family, :measure, :_stamp
)
ON CONFLICT (speciesId) DO UPDATE
SET ordinal = excluded.ordinal, nameIt = excluded.nameIt, nameEn = excluded.nameEn,
    nameSci = excluded.nameSci, family = excluded.family, measure = excluded.measure,
    stamp = excluded.stamp
WHERE excluded.stamp > stamp;
INSERT INTO minimum VALUES (
    :speciesId, coalesce(:validFrom, ''), :minSizeKind, :minSizeUm, :legalBasis, :_stamp
)
ON CONFLICT (speciesId, validFrom) DO UPDATE
SET minSizeKind = excluded.minSizeKind, minSizeUm = excluded.minSizeUm,
    legalBasis = excluded.legalBasis, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
INSERT INTO season VALUES (:speciesId, '*', coalesce(:validFrom, ''), :seasonMask, :_stamp)
ON CONFLICT (speciesId, zoneId, validFrom) DO UPDATE
SET seasonMask = excluded.seasonMask, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.season.set
INSERT INTO season VALUES (:speciesId, :zoneId, :validFrom, :seasonMask, :_stamp)
ON CONFLICT (speciesId, zoneId, validFrom) DO UPDATE
SET seasonMask = excluded.seasonMask, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.species.retired
INSERT INTO retirement VALUES ('species', :speciesId, :_stamp)
ON CONFLICT (kind, id) DO UPDATE SET stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.zone.defined
INSERT INTO zone VALUES (:zoneId, :nameIt, :nameEn, :_stamp)
ON CONFLICT (zoneId) DO UPDATE
SET nameIt = excluded.nameIt, nameEn = excluded.nameEn, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.reference.defined
INSERT INTO reference VALUES (
    :referenceId, :nameIt, :nameEn, :shape, :diameterUm, :widthUm, :heightUm, :thicknessUm, :_stamp
)
ON CONFLICT (referenceId) DO UPDATE
SET nameIt = excluded.nameIt, nameEn = excluded.nameEn, shape = excluded.shape,
    diameterUm = excluded.diameterUm, widthUm = excluded.widthUm, heightUm = excluded.heightUm,
    thicknessUm = excluded.thicknessUm, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.place.defined
INSERT INTO place VALUES (:placeId, :parentId, :name, :aliases, :latE7, :lonE7, :_stamp)
ON CONFLICT (placeId) DO UPDATE
SET parentId = excluded.parentId, name = excluded.name, aliases = excluded.aliases,
    latE7 = excluded.latE7, lonE7 = excluded.lonE7, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.place.retired
INSERT INTO retirement VALUES ('place', :placeId, :_stamp)
ON CONFLICT (kind, id) DO UPDATE SET stamp = excluded.stamp
WHERE excluded.stamp > stamp;
