-- readmodel points version 2: pins and notes at points, how often these were looked at, and rules
-- A pin that was taken away keeps its row, so that an older event cannot bring it back.
CREATE TABLE pin (
    pointKey TEXT NOT NULL PRIMARY KEY,
    zoneId TEXT,
    label TEXT,
    isPinned INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE note (
    noteId TEXT NOT NULL PRIMARY KEY,
    zoneId TEXT NOT NULL,
    pointKey TEXT NOT NULL,
    actor TEXT NOT NULL,
    velocityMmPerYear REAL,
    coherence REAL,
    text TEXT,
    at INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX note_point ON note (pointKey, at);
CREATE INDEX note_zone ON note (zoneId, at);

-- All versions that a note had.
CREATE TABLE note_version (
    noteId TEXT NOT NULL,
    origin TEXT NOT NULL,
    actor TEXT NOT NULL,
    text TEXT,
    at INT NOT NULL,
    PRIMARY KEY (noteId, origin)
) STRICT, WITHOUT ROWID;

-- What all devices did adds up.
CREATE TABLE point_visit (
    pointKey TEXT NOT NULL PRIMARY KEY,
    inspected INT NOT NULL,
    seriesViewed INT NOT NULL,
    dwellMs INT NOT NULL,
    lastAt INT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_rule (
    ruleId TEXT NOT NULL PRIMARY KEY,
    zoneId TEXT,
    actor TEXT,
    metric TEXT,
    op TEXT,
    value REAL,
    unit TEXT,
    isCleared INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX alert_rule_zone ON alert_rule (zoneId);

-- on zones.point.pinned
INSERT INTO pin VALUES (:pointKey, :zoneId, :label, 1, :_stamp)
ON CONFLICT (pointKey) DO UPDATE
SET zoneId = excluded.zoneId, label = excluded.label, isPinned = 1, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on zones.point.unpinned
INSERT INTO pin VALUES (:pointKey, NULL, NULL, 0, :_stamp)
ON CONFLICT (pointKey) DO UPDATE
SET label = NULL, zoneId = NULL, isPinned = 0, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on zones.point.annotated
INSERT INTO note VALUES (
    :noteId, :zoneId, :pointKey, coalesce(:_actor, '-'), :velocityMmPerYear, :coherence, :text,
    :_at, :_stamp
)
ON CONFLICT (noteId) DO UPDATE
SET zoneId = excluded.zoneId, pointKey = excluded.pointKey, actor = excluded.actor,
    velocityMmPerYear = excluded.velocityMmPerYear, coherence = excluded.coherence,
    text = excluded.text, at = excluded.at, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
INSERT INTO note_version VALUES (:noteId, :_origin, coalesce(:_actor, '-'), :text, :_at)
ON CONFLICT (noteId, origin) DO NOTHING;

-- on zones.point.inspected
INSERT INTO point_visit VALUES (:pointKey, 1, 0, 0, :_at)
ON CONFLICT (pointKey) DO UPDATE
SET inspected = inspected + 1, lastAt = max(lastAt, excluded.lastAt);

-- on zones.point.series.viewed
INSERT INTO point_visit VALUES (:pointKey, 0, 1, 0, :_at)
ON CONFLICT (pointKey) DO UPDATE
SET seriesViewed = seriesViewed + 1, lastAt = max(lastAt, excluded.lastAt);

-- on zones.point.dismissed
INSERT INTO point_visit VALUES (:pointKey, 0, 0, :dwellMs, :_at)
ON CONFLICT (pointKey) DO UPDATE
SET dwellMs = dwellMs + excluded.dwellMs, lastAt = max(lastAt, excluded.lastAt);

-- on zones.alert.rule.set
INSERT INTO alert_rule VALUES (
    :ruleId, :zoneId, coalesce(:_actor, '-'), :metric, :op, :value, :unit, 0, :_stamp
)
ON CONFLICT (ruleId) DO UPDATE
SET zoneId = excluded.zoneId, actor = excluded.actor, metric = excluded.metric,
    op = excluded.op, value = excluded.value, unit = excluded.unit, isCleared = 0,
    stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on zones.alert.rule.cleared
INSERT INTO alert_rule VALUES (:ruleId, NULL, NULL, NULL, NULL, NULL, NULL, 1, :_stamp)
ON CONFLICT (ruleId) DO UPDATE
SET zoneId = NULL, actor = NULL, metric = NULL, op = NULL, value = NULL, unit = NULL,
    isCleared = 1, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
