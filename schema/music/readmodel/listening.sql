-- readmodel listening version 2: what is playing, what was played, and sums for each day
-- A play is in one of the states playing, paused, completed, skipped, stopped. All of its events
-- come from the device that plays, in their order, so the last one holds.
CREATE TABLE play (
    playId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL,
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

CREATE INDEX play_user ON play (actor, startedAt);

CREATE INDEX play_day ON play (day);

-- Days are those of Greenwich, so that all devices count alike.
CREATE VIEW listening_day AS
SELECT day, trackId, count(*) AS plays, sum(listenedMs IS NOT NULL) AS completed,
    sum(coalesce(listenedMs, 0)) AS listenedMs
FROM play GROUP BY day, trackId;

-- on music.playback.started
INSERT INTO play VALUES (
    :playId, coalesce(:_actor, '-'), :trackId, :playlistId, :itemId, :via, :output, :_at,
    day_of(:_at, 0), 'playing', :positionMs, NULL, NULL
)
ON CONFLICT (playId) DO NOTHING;

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
UPDATE play SET state = 'completed', listenedMs = :listenedMs
WHERE playId = :playId;

-- on music.playback.stopped
UPDATE play SET state = 'stopped', positionMs = :positionMs, cause = :cause
WHERE playId = :playId;
