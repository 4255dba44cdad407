-- readmodel diary version 1: what was eaten at which meal, with sums for each meal of each day
-- Amount and place of an entry have clocks of their own: changing one leaves the other alone.
CREATE TABLE entry (
    entryId TEXT NOT NULL PRIMARY KEY,
    user TEXT NOT NULL,
    day TEXT NOT NULL,
    meal TEXT NOT NULL,
    foodId TEXT NOT NULL,
    name TEXT,
    amountMg INT NOT NULL,
    energyMkcal INT NOT NULL,
    proteinMg INT,
    carbMg INT,
    fatMg INT,
    -- What so much of the food held when it was logged: other amounts follow from it.
    baseMg INT NOT NULL,
    baseMkcal INT NOT NULL,
    baseProteinMg INT,
    baseCarbMg INT,
    baseFatMg INT,
    method TEXT NOT NULL,
    note TEXT,
    at INT NOT NULL,
    isRemoved INT NOT NULL,
    amountClock INT NOT NULL,
    amountReplica TEXT NOT NULL,
    amountSequence INT NOT NULL,
    placeClock INT NOT NULL,
    placeReplica TEXT NOT NULL,
    placeSequence INT NOT NULL
) STRICT;

CREATE INDEX entry_day ON entry (user, day, meal);

-- The names are read from the table, so one that is erased there is found no more.
CREATE VIRTUAL TABLE entry_text USING fts5(
    name, content='entry', tokenize='unicode61 remove_diacritics 2'
);

CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
    INSERT INTO entry_text (rowid, name) VALUES (new.rowid, new.name);
END;

CREATE TRIGGER entry_deleted AFTER DELETE ON entry BEGIN
    INSERT INTO entry_text (entry_text, rowid, name) VALUES ('delete', old.rowid, old.name);
END;

CREATE TRIGGER entry_renamed AFTER UPDATE OF name ON entry BEGIN
    INSERT INTO entry_text (entry_text, rowid, name) VALUES ('delete', old.rowid, old.name);
    INSERT INTO entry_text (rowid, name) VALUES (new.rowid, new.name);
END;

-- An entry is in the diary while all its removals are undone, each by its own restoration.
CREATE TABLE removal (
    entryId TEXT NOT NULL,
    removalId TEXT NOT NULL,
    isUndone INT NOT NULL,
    PRIMARY KEY (entryId, removalId)
) STRICT, WITHOUT ROWID;

-- An actor is the user; without one, the replica is.
CREATE TABLE meal_total (
    user TEXT NOT NULL,
    day TEXT NOT NULL,
    meal TEXT NOT NULL,
    entries INT NOT NULL,
    energyMkcal INT NOT NULL,
    proteinMg INT NOT NULL,
    carbMg INT NOT NULL,
    fatMg INT NOT NULL,
    PRIMARY KEY (user, day, meal)
) STRICT, WITHOUT ROWID;

-- on meals.food.logged
-- The entry is taken out of the sums first, in case that its id came before.
INSERT INTO meal_total
SELECT user, day, meal, -1, -energyMkcal,
    -coalesce(proteinMg, 0), -coalesce(carbMg, 0), -coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;
-- A removal may have come first. Amounts are rounded once, a half to the even side.
INSERT INTO entry VALUES (
    :entryId, coalesce(:_actor, :_replica), :day, :meal, :foodId, :name, :amountMg, :energyMkcal,
    json_extract(:per100, '$.proteinMg') * :amountMg / 100000
        + (2 * (json_extract(:per100, '$.proteinMg') * :amountMg % 100000)
            + (json_extract(:per100, '$.proteinMg') * :amountMg / 100000 & 1) > 100000),
    json_extract(:per100, '$.carbMg') * :amountMg / 100000
        + (2 * (json_extract(:per100, '$.carbMg') * :amountMg % 100000)
            + (json_extract(:per100, '$.carbMg') * :amountMg / 100000 & 1) > 100000),
    json_extract(:per100, '$.fatMg') * :amountMg / 100000
        + (2 * (json_extract(:per100, '$.fatMg') * :amountMg % 100000)
            + (json_extract(:per100, '$.fatMg') * :amountMg / 100000 & 1) > 100000),
    iif(:per100 IS NULL, :amountMg, 100000),
    coalesce(json_extract(:per100, '$.energyMkcal'), :energyMkcal),
    json_extract(:per100, '$.proteinMg'), json_extract(:per100, '$.carbMg'),
    json_extract(:per100, '$.fatMg'), :method, :note, :_at,
    EXISTS (
        SELECT 1 FROM removal WHERE entryId = :entryId AND isUndone = 0
    ),
    :_clock, :_replica, :_sequence, :_clock, :_replica, :_sequence
)
ON CONFLICT (entryId) DO NOTHING;
INSERT INTO meal_total
SELECT user, day, meal, 1, energyMkcal,
    coalesce(proteinMg, 0), coalesce(carbMg, 0), coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;

-- on meals.quantity.changed
INSERT INTO meal_total
SELECT user, day, meal, -1, -energyMkcal,
    -coalesce(proteinMg, 0), -coalesce(carbMg, 0), -coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;
UPDATE entry
SET amountMg = :amountMg,
    energyMkcal = baseMkcal * :amountMg / baseMg
        + (2 * (baseMkcal * :amountMg % baseMg)
            + (baseMkcal * :amountMg / baseMg & 1) > baseMg),
    proteinMg = baseProteinMg * :amountMg / baseMg
        + (2 * (baseProteinMg * :amountMg % baseMg)
            + (baseProteinMg * :amountMg / baseMg & 1) > baseMg),
    carbMg = baseCarbMg * :amountMg / baseMg
        + (2 * (baseCarbMg * :amountMg % baseMg)
            + (baseCarbMg * :amountMg / baseMg & 1) > baseMg),
    fatMg = baseFatMg * :amountMg / baseMg
        + (2 * (baseFatMg * :amountMg % baseMg)
            + (baseFatMg * :amountMg / baseMg & 1) > baseMg),
    amountClock = :_clock, amountReplica = :_replica, amountSequence = :_sequence
WHERE entryId = :entryId
    AND (:_clock, :_replica, :_sequence) > (amountClock, amountReplica, amountSequence);
INSERT INTO meal_total
SELECT user, day, meal, 1, energyMkcal,
    coalesce(proteinMg, 0), coalesce(carbMg, 0), coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;

-- on meals.food.moved
INSERT INTO meal_total
SELECT user, day, meal, -1, -energyMkcal,
    -coalesce(proteinMg, 0), -coalesce(carbMg, 0), -coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;
UPDATE entry
SET day = :day, meal = :meal,
    placeClock = :_clock, placeReplica = :_replica, placeSequence = :_sequence
WHERE entryId = :entryId
    AND (:_clock, :_replica, :_sequence) > (placeClock, placeReplica, placeSequence);
INSERT INTO meal_total
SELECT user, day, meal, 1, energyMkcal,
    coalesce(proteinMg, 0), coalesce(carbMg, 0), coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;

-- on meals.food.removed
INSERT INTO meal_total
SELECT user, day, meal, -1, -energyMkcal,
    -coalesce(proteinMg, 0), -coalesce(carbMg, 0), -coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;
INSERT INTO removal VALUES (:entryId, :_origin, 0)
ON CONFLICT (entryId, removalId) DO NOTHING;
UPDATE entry
SET isRemoved = EXISTS (
        SELECT 1 FROM removal WHERE entryId = :entryId AND isUndone = 0
    )
WHERE entryId = :entryId;
INSERT INTO meal_total
SELECT user, day, meal, 1, energyMkcal,
    coalesce(proteinMg, 0), coalesce(carbMg, 0), coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;

-- on meals.food.restored
INSERT INTO meal_total
SELECT user, day, meal, -1, -energyMkcal,
    -coalesce(proteinMg, 0), -coalesce(carbMg, 0), -coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;
INSERT INTO removal VALUES (:entryId, :removalId, 1)
ON CONFLICT (entryId, removalId) DO UPDATE SET isUndone = 1;
UPDATE entry
SET isRemoved = EXISTS (
        SELECT 1 FROM removal WHERE entryId = :entryId AND isUndone = 0
    )
WHERE entryId = :entryId;
INSERT INTO meal_total
SELECT user, day, meal, 1, energyMkcal,
    coalesce(proteinMg, 0), coalesce(carbMg, 0), coalesce(fatMg, 0)
FROM entry WHERE entryId = :entryId AND isRemoved = 0
ON CONFLICT (user, day, meal) DO UPDATE
SET entries = entries + excluded.entries, energyMkcal = energyMkcal + excluded.energyMkcal,
    proteinMg = proteinMg + excluded.proteinMg, carbMg = carbMg + excluded.carbMg,
    fatMg = fatMg + excluded.fatMg;
