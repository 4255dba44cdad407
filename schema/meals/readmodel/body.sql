-- readmodel body version 2: weights, and what phones and watches counted on each day
-- One that was a mistake keeps its row, so that a second import of it does not bring it back.
CREATE TABLE weight (
    measureId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL,
    day TEXT NOT NULL,
    weightG INT,
    source TEXT NOT NULL,
    note TEXT,
    at INT NOT NULL,
    clock INT NOT NULL,
    isRemoved INT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX weight_day ON weight (actor, day, at);

-- Who counted is personal and no key, so of several counts of a day the highest revision holds.
CREATE TABLE activity (
    actor TEXT NOT NULL,
    day TEXT NOT NULL,
    timeZone TEXT NOT NULL,
    sourceName TEXT,
    steps INT,
    activeMkcal INT,
    basalMkcal INT,
    importId TEXT,
    revision INT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (actor, day)
) STRICT, WITHOUT ROWID;

-- on meals.weight.recorded
INSERT INTO weight VALUES (
    :measureId, coalesce(:_actor, '-'), :day, :weightG, :source, :note, :_at, :_clock, 0
)
ON CONFLICT (measureId) DO NOTHING;

-- on meals.measure.removed
UPDATE weight SET isRemoved = 1 WHERE measureId = :measureId;

-- on meals.health.day.recorded
INSERT INTO activity VALUES (
    coalesce(:_actor, '-'), :day, :timeZone, :sourceName, :steps, :activeMkcal, :basalMkcal,
    :importId, :revision, :_stamp
)
ON CONFLICT (actor, day) DO UPDATE
SET timeZone = excluded.timeZone, sourceName = excluded.sourceName, steps = excluded.steps,
    activeMkcal = excluded.activeMkcal, basalMkcal = excluded.basalMkcal,
    importId = excluded.importId, revision = excluded.revision, stamp = excluded.stamp
WHERE (excluded.revision, excluded.stamp) > (revision, stamp);
