-- readmodel allergies version 2: the vocabulary, who cannot have what, and the warnings given
CREATE TABLE allergen (
    allergenId TEXT NOT NULL PRIMARY KEY,
    nameIt TEXT NOT NULL,
    nameEn TEXT NOT NULL,
    offTag TEXT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Each addition is removed by itself: who adds one again while it is removed elsewhere keeps it.
CREATE TABLE allergy (
    allergyId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL,
    allergenId TEXT,
    ownWords TEXT,
    severity TEXT NOT NULL,
    note TEXT,
    isRemoved INT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX allergy_user ON allergy (actor);

CREATE TABLE alert (
    alertId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL,
    entryId TEXT,
    allergenId TEXT,
    level TEXT NOT NULL,
    at INT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX alert_user ON alert (actor, at);

-- What the user decided, the last time.
CREATE TABLE alert_choice (
    alertId TEXT NOT NULL PRIMARY KEY,
    choice TEXT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- on meals.allergen.defined
INSERT INTO allergen VALUES (:allergenId, :nameIt, :nameEn, :offTag, :_stamp)
ON CONFLICT (allergenId) DO UPDATE
SET nameIt = excluded.nameIt, nameEn = excluded.nameEn, offTag = excluded.offTag,
    stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on meals.allergy.added
INSERT INTO allergy VALUES (
    :allergyId, coalesce(:_actor, '-'), :allergenId, :ownWords, :severity, :note, 0
)
ON CONFLICT (allergyId) DO NOTHING;

-- on meals.allergy.removed
UPDATE allergy SET isRemoved = 1 WHERE allergyId = :allergyId;

-- on meals.allergy.alert.shown
INSERT INTO alert VALUES (
    :alertId, coalesce(:_actor, '-'), :entryId, :allergenId, :level, :_at
)
ON CONFLICT (alertId) DO NOTHING;

-- on meals.allergy.alert.acknowledged
INSERT INTO alert_choice VALUES (:alertId, :choice, :_stamp)
ON CONFLICT (alertId) DO UPDATE
SET choice = excluded.choice, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
