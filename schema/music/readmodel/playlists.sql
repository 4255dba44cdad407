-- readmodel playlists version 2: the playlists, and where each entry stands
-- Name and mode have stamps of their own. One that was deleted stays so.
CREATE TABLE playlist (
    playlistId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL,
    name TEXT,
    note TEXT,
    mode TEXT NOT NULL,
    isDeleted INT NOT NULL,
    nameStamp BLOB NOT NULL,
    modeStamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A place in a list is made once and stays, even empty, so that others can be put beside it. Slots
-- form a tree: a slot comes after those on its left side and before those on its right side.
-- Runs that two people add at one place while offline stay whole that way.
CREATE TABLE slot (
    slotId TEXT NOT NULL PRIMARY KEY,
    playlistId TEXT NOT NULL,
    parentId TEXT,
    isLeft INT NOT NULL,
    leftSlotId TEXT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX slot_playlist ON slot (playlistId, parentId, isLeft);

-- An entry stands in the slot of its latest move. One that was removed stays so.
CREATE TABLE item (
    itemId TEXT NOT NULL PRIMARY KEY,
    playlistId TEXT NOT NULL REFERENCES playlist (playlistId),
    trackId TEXT NOT NULL,
    slotId TEXT NOT NULL UNIQUE REFERENCES slot (slotId),
    note TEXT,
    isRemoved INT NOT NULL,
    position INT,
    replica TEXT NOT NULL,
    slotStamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX item_playlist ON item (playlistId);
CREATE INDEX item_track ON item (trackId);

-- on music.playlist.created
INSERT INTO playlist VALUES (
    :playlistId, coalesce(:_actor, '-'), :name, :note, :mode, 0, :_stamp, :_stamp
)
ON CONFLICT (playlistId) DO NOTHING;

-- on music.playlist.renamed
UPDATE playlist SET name = :name, nameStamp = :_stamp
WHERE playlistId = :playlistId AND :_stamp > nameStamp;

-- on music.playlist.mode.changed
UPDATE playlist SET mode = :mode, modeStamp = :_stamp
WHERE playlistId = :playlistId AND :_stamp > modeStamp;

-- on music.playlist.deleted
UPDATE playlist SET isDeleted = 1 WHERE playlistId = :playlistId;

-- on music.playlist.track.added
-- Between two slots, it hangs on the right one if that was put directly after the left one.
INSERT INTO slot
SELECT :itemId, :playlistId, iif(r.slotId IS NULL, l.slotId, r.slotId), r.slotId IS NOT NULL,
    l.slotId, :_stamp
FROM (SELECT :leftSlotId AS leftId, :rightSlotId AS rightId) AS n
LEFT JOIN slot AS l ON l.slotId = n.leftId AND l.playlistId = :playlistId
LEFT JOIN slot AS r ON r.slotId = n.rightId AND r.playlistId = :playlistId
    AND r.leftSlotId IS l.slotId
WHERE true
ON CONFLICT (slotId) DO NOTHING;
INSERT INTO item VALUES (
    :itemId, :playlistId, :trackId, :itemId, :note, 0, :_position, :_replica, :_stamp
)
ON CONFLICT (itemId) DO NOTHING;

-- on music.playlist.track.moved
INSERT INTO slot
SELECT :slotId, :playlistId, iif(r.slotId IS NULL, l.slotId, r.slotId), r.slotId IS NOT NULL,
    l.slotId, :_stamp
FROM (SELECT :leftSlotId AS leftId, :rightSlotId AS rightId) AS n
LEFT JOIN slot AS l ON l.slotId = n.leftId AND l.playlistId = :playlistId
LEFT JOIN slot AS r ON r.slotId = n.rightId AND r.playlistId = :playlistId
    AND r.leftSlotId IS l.slotId
WHERE true
ON CONFLICT (slotId) DO NOTHING;
UPDATE item SET slotId = :slotId, slotStamp = :_stamp
WHERE itemId = :itemId AND playlistId = :playlistId AND :_stamp > slotStamp;

-- on music.playlist.track.removed
UPDATE item SET isRemoved = 1 WHERE itemId = :itemId;

-- on music.playlist.cleared
-- What the author knew: all up to the base, and what came from the same replica.
UPDATE item SET isRemoved = 1
WHERE playlistId = :playlistId AND isRemoved = 0
    AND (position <= :_base OR replica = :_replica);
