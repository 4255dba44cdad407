-- readmodel settings version 1: how each user wants the app, and the guides they put away
CREATE TABLE preference (
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT,
    stamp BLOB NOT NULL,
    PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE guide (
    actor TEXT NOT NULL,
    guideId TEXT NOT NULL,
    version INT NOT NULL,
    PRIMARY KEY (actor, guideId)
) STRICT, WITHOUT ROWID;

-- on fish.preference.set
INSERT INTO preference VALUES (coalesce(:_actor, '-'), :key, :value, :_stamp)
ON CONFLICT (actor, key) DO UPDATE
SET value = excluded.value, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.guide.dismissed
INSERT INTO guide VALUES (coalesce(:_actor, '-'), :guideId, :version)
ON CONFLICT (actor, guideId) DO UPDATE SET version = max(version, excluded.version);
