-- readmodel diary version 2: what was eaten at which meal, with sums for each meal of each day
-- Amount and place of an entry have stamps of their own: changing one leaves the other alone.
CREATE TABLE entry (
    entryId TEXT NOT NULL PRIMARY KEY,
    -- The user; without an actor, '-'.
    actor TEXT NOT NULL,
    day TEXT NOT NULL,
    meal TEXT NOT NULL,
    foodId TEXT NOT NULL,
    name TEXT,
    amountMg INT NOT NULL,
    energyMkcal INT NOT NULL,
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
    amountStamp BLOB NOT NULL,
    placeStamp BLOB NOT NULL,
    -- Amounts are rounded once, a half to the even side.
    proteinMg INT AS (
        baseProteinMg * amountMg / baseMg
            + (2 * (baseProteinMg * amountMg % baseMg)
                + (baseProteinMg * amountMg / baseMg & 1) > baseMg)
    ),
    carbMg INT AS (
        baseCarbMg * amountMg / baseMg
            + (2 * (baseCarbMg * amountMg % baseMg)
                + (baseCarbMg * amountMg / baseMg & 1) > baseMg)
    ),
    fatMg INT AS (
        baseFatMg * amountMg / baseMg
            + (2 * (baseFatMg * amountMg % baseMg)
                + (baseFatMg * amountMg / baseMg & 1) > baseMg)
    )
) STRICT;

CREATE INDEX entry_day ON entry (actor, day, meal);

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

CREATE VIEW meal_total AS
SELECT actor, day, meal, count(*) AS entries, sum(energyMkcal) AS energyMkcal,
    sum(coalesce(proteinMg, 0)) AS proteinMg, sum(coalesce(carbMg, 0)) AS carbMg,
    sum(coalesce(fatMg, 0)) AS fatMg
FROM entry WHERE isRemoved = 0
GROUP BY actor, day, meal;

-- on meals.food.logged
-- A removal may have come first.
INSERT INTO entry VALUES (
    :entryId, coalesce(:_actor, '-'), :day, :meal, :foodId, :name, :amountMg, :energyMkcal,
    iif(:per100 IS NULL, :amountMg, 100000),
    coalesce(json_extract(:per100, '$.energyMkcal'), :energyMkcal),
    json_extract(:per100, '$.proteinMg'), json_extract(:per100, '$.carbMg'),
    json_extract(:per100, '$.fatMg'), :method, :note, :_at,
    EXISTS (SELECT 1 FROM removal WHERE entryId = :entryId AND isUndone = 0), :_stamp, :_stamp
)
ON CONFLICT (entryId) DO NOTHING;

-- on meals.quantity.changed
UPDATE entry
SET amountMg = :amountMg,
    energyMkcal = baseMkcal * :amountMg / baseMg
        + (2 * (baseMkcal * :amountMg % baseMg)
            + (baseMkcal * :amountMg / baseMg & 1) > baseMg), amountStamp = :_stamp
WHERE entryId = :entryId AND :_stamp > amountStamp;

-- on meals.food.moved
UPDATE entry SET day = :day, meal = :meal, placeStamp = :_stamp
WHERE entryId = :entryId AND :_stamp > placeStamp;

-- on meals.food.removed
INSERT INTO removal VALUES (:entryId, :_origin, 0)
ON CONFLICT (entryId, removalId) DO NOTHING;
UPDATE entry
SET isRemoved = EXISTS (SELECT 1 FROM removal WHERE entryId = :entryId AND isUndone = 0)
WHERE entryId = :entryId;

-- on meals.food.restored
INSERT INTO removal VALUES (:entryId, :removalId, 1)
ON CONFLICT (entryId, removalId) DO UPDATE SET isUndone = 1;
UPDATE entry
SET isRemoved = EXISTS (SELECT 1 FROM removal WHERE entryId = :entryId AND isUndone = 0)
WHERE entryId = :entryId;
