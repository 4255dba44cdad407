-- readmodel listening version 1: what is playing, what was played, and sums for each day
-- A play is in one of the states playing, paused, completed, skipped, stopped. All of its events
-- come from the device that plays, in their order, so the last one holds.
CREATE TABLE play (
    playId TEXT NOT NULL PRIMARY KEY,
    user TEXT NOT NULL,
    trackId TEXT NOT NULL,
    playlistId TEXT,
    itemId TEXT,
    via TEXT NOT NULL,
    output TEXT,
    startedAt INT NOT NULL,
    day TEXT NOT NULL,
    state TEXT NOT NULL,
    positionMs INT NOT NULL,
    listenedMs INT,
    cause TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX play_user ON play (user, startedAt);

-- Days are those of Greenwich, so that all devices count alike.
CREATE TABLE listening_day (
    day TEXT NOT NULL,
    trackId TEXT NOT NULL,
    plays INT NOT NULL,
    completed INT NOT NULL,
    listenedMs INT NOT NULL,
    PRIMARY KEY (day, trackId)
) STRICT, WITHOUT ROWID;

CREATE INDEX listening_track ON listening_day (trackId);

-- on music.playback.started
-- The sums lose the play first, in case that its id came before.
INSERT INTO listening_day
SELECT day, trackId, -1, -(listenedMs IS NOT NULL), -coalesce(listenedMs, 0)
FROM play WHERE playId = :playId
ON CONFLICT (day, trackId) DO UPDATE
SET plays = plays + excluded.plays, completed = completed + excluded.completed,
    listenedMs = listenedMs + excluded.listenedMs;
INSERT INTO play VALUES (
    :playId, coalesce(:_actor, :_replica), :trackId, :playlistId, :itemId, :via, :output, :_at,
    day_of(:_at, 0), 'playing', :positionMs, NULL, NULL
)
ON CONFLICT (playId) DO NOTHING;
INSERT INTO listening_day
SELECT day, trackId, 1, (listenedMs IS NOT NULL), coalesce(listenedMs, 0)
FROM play WHERE playId = :playId
ON CONFLICT (day, trackId) DO UPDATE
SET plays = plays + excluded.plays, completed = completed + excluded.completed,
    listenedMs = listenedMs + excluded.listenedMs;

-- on music.playback.paused
UPDATE play SET state = 'paused', cause = NULL, positionMs = :positionMs
WHERE playId = :playId;

-- on music.playback.resumed
UPDATE play SET state = 'playing', cause = NULL, positionMs = :positionMs
WHERE playId = :playId;

-- on music.playback.seeked
UPDATE play SET positionMs = :toMs
WHERE playId = :playId;

-- on music.playback.skipped
-- Back to the start of the same track goes on playing.
UPDATE play
SET state = iif(:result = 'restart', 'playing', 'skipped'),
    positionMs = iif(:result = 'restart', 0, :positionMs)
WHERE playId = :playId;

-- on music.playback.completed
INSERT INTO listening_day
SELECT day, trackId, -1, -(listenedMs IS NOT NULL), -coalesce(listenedMs, 0)
FROM play WHERE playId = :playId
ON CONFLICT (day, trackId) DO UPDATE
SET plays = plays + excluded.plays, completed = completed + excluded.completed,
    listenedMs = listenedMs + excluded.listenedMs;
UPDATE play SET state = 'completed', listenedMs = :listenedMs
WHERE playId = :playId;
INSERT INTO listening_day
SELECT day, trackId, 1, (listenedMs IS NOT NULL), coalesce(listenedMs, 0)
FROM play WHERE playId = :playId
ON CONFLICT (day, trackId) DO UPDATE
SET plays = plays + excluded.plays, completed = completed + excluded.completed,
    listenedMs = listenedMs + excluded.listenedMs;

-- on music.playback.stopped
UPDATE play SET state = 'stopped', positionMs = :positionMs, cause = :cause
WHERE playId = :playId;
