-- readmodel pins version 2: the pins, favourites and last declared place of each visitor
-- A pin that was taken away keeps its row, so that an older move does not bring it back.
CREATE TABLE pin (
    pinId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL,
    mapId TEXT NOT NULL,
    xMpx INT NOT NULL,
    yMpx INT NOT NULL,
    placeId TEXT,
    via TEXT NOT NULL,
    title TEXT,
    note TEXT,
    oldPinId TEXT,
    isRemoved INT NOT NULL,
    at INT NOT NULL,
    position INT,
    author TEXT NOT NULL,
    stamp BLOB NOT NULL
) STRICT;

CREATE INDEX pin_map ON pin (mapId, actor);
CREATE INDEX pin_old ON pin (oldPinId);

CREATE VIRTUAL TABLE pin_box USING rtree_i32(id, minX, maxX, minY, maxY);

CREATE TRIGGER pin_added AFTER INSERT ON pin BEGIN
    INSERT INTO pin_box
    SELECT new.rowid, new.xMpx, new.xMpx, new.yMpx, new.yMpx WHERE new.isRemoved = 0;
END;

CREATE TRIGGER pin_deleted AFTER DELETE ON pin BEGIN
    DELETE FROM pin_box WHERE id = old.rowid;
END;

CREATE TRIGGER pin_shifted AFTER UPDATE OF xMpx, yMpx, isRemoved ON pin BEGIN
    DELETE FROM pin_box WHERE id = old.rowid;
    INSERT INTO pin_box
    SELECT new.rowid, new.xMpx, new.xMpx, new.yMpx, new.yMpx WHERE new.isRemoved = 0;
END;

-- Two devices may replace one pin: the later new one stays.
CREATE TABLE pin_successor (
    oldPinId TEXT NOT NULL PRIMARY KEY,
    pinId TEXT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Each addition counts by itself, so that a removal takes only those that its author knew.
CREATE TABLE favourite (
    actor TEXT NOT NULL,
    refKind TEXT NOT NULL,
    refId TEXT NOT NULL,
    origin TEXT NOT NULL,
    at INT NOT NULL,
    position INT,
    replica TEXT NOT NULL,
    PRIMARY KEY (actor, refKind, refId, origin)
) STRICT, WITHOUT ROWID;

CREATE TABLE whereabouts (
    actor TEXT NOT NULL PRIMARY KEY,
    mapId TEXT NOT NULL,
    placeId TEXT,
    at INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- on maps.pin.placed
INSERT INTO pin VALUES (
    :pinId, coalesce(:_actor, '-'), :mapId, :xMpx, :yMpx, :placeId, :via, :title, :note,
    NULL, 0, :_at, :_position, :_replica, :_stamp
)
ON CONFLICT (pinId) DO NOTHING;

-- on maps.pin.replaced
INSERT INTO pin VALUES (
    :pinId, coalesce(:_actor, '-'), :mapId, :xMpx, :yMpx, :placeId, :via, :title, :note,
    :oldPinId, 0, :_at, :_position, :_replica, :_stamp
)
ON CONFLICT (pinId) DO NOTHING;
UPDATE pin SET isRemoved = 1 WHERE pinId = :oldPinId AND isRemoved = 0;
INSERT INTO pin_successor VALUES (:oldPinId, :pinId, :_stamp)
ON CONFLICT (oldPinId) DO UPDATE
SET pinId = excluded.pinId, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
UPDATE pin SET isRemoved = 1
WHERE oldPinId = :oldPinId AND isRemoved = 0
    AND pinId <> (SELECT pinId FROM pin_successor WHERE oldPinId = :oldPinId);

-- on maps.pin.moved
-- A pin dropped on a place stands for it from then on.
UPDATE pin SET xMpx = :xMpx, yMpx = :yMpx, placeId = :snappedPlaceId, stamp = :_stamp
WHERE pinId = :pinId AND :_stamp > stamp;

-- on maps.pin.removed
UPDATE pin SET isRemoved = 1 WHERE pinId = :pinId AND isRemoved = 0;

-- on maps.pins.cleared
-- What the visitor saw: all up to the base, and what came from the same replica.
UPDATE pin SET isRemoved = 1
WHERE mapId = :mapId AND actor = coalesce(:_actor, '-') AND isRemoved = 0
    AND (:via IS NULL OR via = :via) AND (position <= :_base OR author = :_replica);

-- on maps.favourite.added
INSERT INTO favourite VALUES (
    coalesce(:_actor, '-'), :refKind, :refId, :_origin, :_at, :_position, :_replica
)
ON CONFLICT (actor, refKind, refId, origin) DO NOTHING;

-- on maps.favourite.removed
DELETE FROM favourite
WHERE actor = coalesce(:_actor, '-') AND refKind = :refKind AND refId = :refId
    AND (position <= :_base OR replica = :_replica);

-- on maps.location.declared
INSERT INTO whereabouts VALUES (coalesce(:_actor, '-'), :mapId, :placeId, :_at, :_stamp)
ON CONFLICT (actor) DO UPDATE
SET mapId = excluded.mapId, placeId = excluded.placeId, at = excluded.at, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
