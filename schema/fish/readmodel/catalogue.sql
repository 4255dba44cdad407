-- readmodel catalogue version 1: the species with their minimum sizes and seasons, and the places
-- Curators may define one thing twice: the later clock wins, then the replica, then the sequence.
CREATE TABLE species (
    speciesId TEXT NOT NULL PRIMARY KEY,
    nameIt TEXT NOT NULL,
    nameEn TEXT,
    nameSci TEXT,
    family TEXT NOT NULL,
    measure TEXT NOT NULL,
    minSizeKind TEXT NOT NULL,
    minSizeUm INT,
    seasonMask INT NOT NULL,
    legalBasis TEXT,
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

-- A municipality has no parent, a hamlet has one.
CREATE TABLE place (
    placeId TEXT NOT NULL PRIMARY KEY,
    parentId TEXT,
    name TEXT NOT NULL,
    alias TEXT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX place_parent ON place (parentId);

-- on fish.species.defined
INSERT INTO species VALUES (
    :speciesId, :nameIt, :nameEn, :nameSci, :family, :measure, :minSizeKind, :minSizeUm,
    :seasonMask, :legalBasis, :_stamp
)
ON CONFLICT (speciesId) DO UPDATE
SET nameIt = excluded.nameIt, nameEn = excluded.nameEn, nameSci = excluded.nameSci,
    family = excluded.family, measure = excluded.measure, minSizeKind = excluded.minSizeKind,
    minSizeUm = excluded.minSizeUm, seasonMask = excluded.seasonMask,
    legalBasis = excluded.legalBasis, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.place.defined
INSERT INTO place VALUES (:placeId, :parentId, :name, :alias, :_stamp)
ON CONFLICT (placeId) DO UPDATE
SET parentId = excluded.parentId, name = excluded.name, alias = excluded.alias,
    stamp = excluded.stamp
WHERE excluded.stamp > stamp;
