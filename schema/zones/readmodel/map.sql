-- readmodel map version 1: favourites, visits, and what the map of each device shows
-- The star of a zone is one for all who share the space.
CREATE TABLE favourite (
    zoneId TEXT NOT NULL PRIMARY KEY,
    isBookmarked INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Visits of all devices add up. Where somebody stood is not kept.
CREATE TABLE zone_visit (
    zoneId TEXT NOT NULL PRIMARY KEY,
    opened INT NOT NULL,
    openedByPosition INT NOT NULL,
    inspected INT NOT NULL,
    dwellMs INT NOT NULL,
    lastAt INT NOT NULL
) STRICT, WITHOUT ROWID;

-- Each device has a map of its own, and its events come in its order: the last one holds.
CREATE TABLE shown_zone (
    replica TEXT NOT NULL PRIMARY KEY,
    zoneId TEXT NOT NULL,
    since INT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE map_setting (
    replica TEXT NOT NULL,
    setting TEXT NOT NULL,
    value TEXT NOT NULL,
    at INT NOT NULL,
    PRIMARY KEY (replica, setting)
) STRICT, WITHOUT ROWID;

CREATE TABLE point_filter (
    replica TEXT NOT NULL PRIMARY KEY,
    minCoherence REAL NOT NULL,
    classes TEXT NOT NULL,
    at INT NOT NULL
) STRICT, WITHOUT ROWID;

-- on zones.zone.bookmarked
INSERT INTO favourite VALUES (:zoneId, 1, :_stamp)
ON CONFLICT (zoneId) DO UPDATE
SET isBookmarked = 1, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on zones.zone.unbookmarked
INSERT INTO favourite VALUES (:zoneId, 0, :_stamp)
ON CONFLICT (zoneId) DO UPDATE
SET isBookmarked = 0, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on zones.zone.opened
INSERT INTO zone_visit VALUES (:zoneId, 1, :via = 'gps', 0, 0, :_at)
ON CONFLICT (zoneId) DO UPDATE
SET opened = opened + 1, openedByPosition = openedByPosition + excluded.openedByPosition,
    lastAt = max(lastAt, excluded.lastAt);
INSERT INTO shown_zone VALUES (:_replica, :zoneId, :_at)
ON CONFLICT (replica) DO UPDATE SET zoneId = excluded.zoneId, since = excluded.since;

-- on zones.zone.closed
INSERT INTO zone_visit VALUES (:zoneId, 0, 0, 0, :dwellMs, :_at)
ON CONFLICT (zoneId) DO UPDATE
SET dwellMs = dwellMs + excluded.dwellMs, lastAt = max(lastAt, excluded.lastAt);
DELETE FROM shown_zone WHERE replica = :_replica AND zoneId = :zoneId;

-- on zones.point.inspected
INSERT INTO zone_visit VALUES (:zoneId, 0, 0, 1, 0, :_at)
ON CONFLICT (zoneId) DO UPDATE
SET inspected = inspected + 1, lastAt = max(lastAt, excluded.lastAt);

-- on zones.map.mode.changed
INSERT INTO map_setting VALUES (:_replica, 'mode', :mode, :_at)
ON CONFLICT (replica, setting) DO UPDATE SET value = excluded.value, at = excluded.at;

-- on zones.map.style.changed
INSERT INTO map_setting VALUES (:_replica, 'style', :style, :_at)
ON CONFLICT (replica, setting) DO UPDATE SET value = excluded.value, at = excluded.at;

-- on zones.filter.changed
INSERT INTO point_filter VALUES (:_replica, :minCoherence, :classes, :_at)
ON CONFLICT (replica) DO UPDATE
SET minCoherence = excluded.minCoherence, classes = excluded.classes, at = excluded.at;
