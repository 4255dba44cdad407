-- readmodel assessments version 2: each fish being judged, with photos, marks, lengths and verdict
-- What the user may still change has a stamp of its own: two devices can go on with one draft.
CREATE TABLE assessment (
    assessmentId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL,
    speciesId TEXT NOT NULL,
    startedOn TEXT NOT NULL,
    timeZone TEXT,
    note TEXT,
    abandonedStep TEXT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX assessment_actor ON assessment (actor, startedOn);

-- One that was discarded keeps its row, so that a late event cannot revive it. Position and replica
-- tell who knew of it.
CREATE TABLE photo (
    assessmentId TEXT NOT NULL,
    photoId TEXT NOT NULL,
    imageId BLOB,
    imageSize INT,
    imageType TEXT,
    imageKey BLOB,
    widthPx INT NOT NULL,
    heightPx INT NOT NULL,
    takenOn TEXT NOT NULL,
    takenAt INT,
    gravityMicroG TEXT,
    focalMpx INT,
    focalSource TEXT,
    principal TEXT,
    gate TEXT,
    gateResult TEXT NOT NULL,
    isDiscarded INT NOT NULL,
    position INT,
    replica TEXT NOT NULL,
    stamp BLOB NOT NULL,
    changed BLOB NOT NULL,
    PRIMARY KEY (assessmentId, photoId)
) STRICT, WITHOUT ROWID;

-- The last photo that was not discarded is the one in use.
CREATE VIEW photo_in_use AS
SELECT * FROM photo AS p
WHERE p.isDiscarded = 0 AND NOT EXISTS (
    SELECT 1 FROM photo AS o
    WHERE o.assessmentId = p.assessmentId AND o.isDiscarded = 0 AND o.stamp > p.stamp
);

-- A mark as it was placed, and by how much each side was nudged since. Marks that were typed
-- without a photo are on the photo ''.
CREATE TABLE mark (
    assessmentId TEXT NOT NULL,
    photoId TEXT NOT NULL,
    target TEXT NOT NULL,
    method TEXT,
    points TEXT,
    frame TEXT,
    ellipse TEXT,
    imageWidthPx INT,
    imageHeightPx INT,
    via TEXT,
    zoomMilli INT,
    upMpx INT NOT NULL,
    downMpx INT NOT NULL,
    leftMpx INT NOT NULL,
    rightMpx INT NOT NULL,
    isCleared INT NOT NULL,
    position INT,
    replica TEXT NOT NULL,
    stamp BLOB NOT NULL,
    changed BLOB NOT NULL,
    PRIMARY KEY (assessmentId, photoId, target)
) STRICT, WITHOUT ROWID;

-- Those on the photo in use. A stamp has 48 digits, so that the highest one brings its photo along.
CREATE VIEW mark_in_use AS
SELECT * FROM mark AS m
WHERE m.isCleared = 0 AND m.photoId = coalesce(
    (
        SELECT substr(max(hex(stamp) || photoId), 49) FROM photo
        WHERE assessmentId = m.assessmentId AND isDiscarded = 0
    ), ''
);

-- Every attempt, by mark or by ruler; the one with the highest stamp holds.
CREATE TABLE measurement (
    assessmentId TEXT NOT NULL,
    origin TEXT NOT NULL,
    method TEXT NOT NULL,
    algorithmVersion INT,
    lengthUm INT NOT NULL,
    sigmaUm INT,
    scaleNmPerPx INT,
    referenceId TEXT,
    segment TEXT,
    heightUm INT,
    warnings TEXT,
    inputsSha256 BLOB,
    at INT NOT NULL,
    replica TEXT NOT NULL,
    sequence INT NOT NULL,
    base INT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (assessmentId, origin)
) STRICT, WITHOUT ROWID;

CREATE VIEW measured AS
SELECT * FROM measurement AS m
WHERE NOT EXISTS (
    SELECT 1 FROM measurement AS o
    WHERE o.assessmentId = m.assessmentId AND o.stamp > m.stamp
);

CREATE TABLE verdict (
    assessmentId TEXT NOT NULL PRIMARY KEY,
    speciesId TEXT,
    lengthUm INT NOT NULL,
    sigmaUm INT,
    minSizeUm INT,
    minSizeKind TEXT NOT NULL,
    seasonMask INT,
    zoneId TEXT,
    sizeResult TEXT NOT NULL,
    isBorderline INT NOT NULL,
    dateResult TEXT NOT NULL,
    applicability TEXT NOT NULL,
    month INT NOT NULL,
    alternatives TEXT,
    catalogueVersion INT,
    at INT NOT NULL,
    replica TEXT NOT NULL,
    sequence INT NOT NULL,
    base INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The last change of what a length or a verdict rests on, by each replica. Whoever measured or
-- judged knew of it if it came from the same replica before, or has a position up to the base.
CREATE TABLE change (
    assessmentId TEXT NOT NULL,
    what TEXT NOT NULL,
    replica TEXT NOT NULL,
    sequence INT NOT NULL,
    position INT,
    PRIMARY KEY (assessmentId, what, replica)
) STRICT, WITHOUT ROWID;

-- What makes a verdict out of date: photo, marks, reference, species or length.
CREATE VIEW verdict_outdated AS
SELECT DISTINCT c.assessmentId, c.what
FROM verdict AS v JOIN change AS c ON c.assessmentId = v.assessmentId
WHERE NOT (c.replica = v.replica AND c.sequence < v.sequence)
    AND (c.position IS NULL OR c.position > v.base);

-- The same for lengths from marks; a ruler needs none.
CREATE VIEW measurement_outdated AS
SELECT DISTINCT c.assessmentId, m.origin, c.what
FROM measurement AS m JOIN change AS c ON c.assessmentId = m.assessmentId
WHERE m.method <> 'ruler' AND c.what IN ('photo', 'marks', 'reference')
    AND NOT (c.replica = m.replica AND c.sequence < m.sequence)
    AND (c.position IS NULL OR c.position > m.base);

-- The coin, and what the report will say: one row for each answer.
CREATE TABLE answer (
    assessmentId TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (assessmentId, field)
) STRICT, WITHOUT ROWID;

-- How often the device was not held level.
CREATE TABLE blocked_capture (
    assessmentId TEXT NOT NULL,
    gate TEXT NOT NULL,
    count INT NOT NULL,
    PRIMARY KEY (assessmentId, gate)
) STRICT, WITHOUT ROWID;

CREATE TABLE detection (
    assessmentId TEXT NOT NULL,
    origin TEXT NOT NULL,
    photoId TEXT,
    target TEXT NOT NULL,
    proposed TEXT NOT NULL,
    final TEXT NOT NULL,
    overlapMilli INT,
    at INT NOT NULL,
    PRIMARY KEY (assessmentId, origin)
) STRICT, WITHOUT ROWID;

-- on fish.assessment.started
INSERT INTO assessment VALUES (
    :assessmentId, coalesce(:_actor, '-'), :speciesId, :startedOn, :timeZone, :note, NULL, :_stamp
)
ON CONFLICT (assessmentId) DO NOTHING;

-- on fish.assessment.species.changed
INSERT INTO change
SELECT :assessmentId, 'species', :_replica, :_sequence, :_position
WHERE EXISTS (
    SELECT 1 FROM assessment
    WHERE assessmentId = :assessmentId AND speciesId <> :speciesId AND :_stamp > stamp
)
ON CONFLICT (assessmentId, what, replica) DO UPDATE
SET sequence = excluded.sequence, position = excluded.position;
UPDATE assessment SET speciesId = :speciesId, stamp = :_stamp
WHERE assessmentId = :assessmentId AND :_stamp > stamp;

-- on fish.assessment.abandoned
UPDATE assessment SET abandonedStep = :step
WHERE assessmentId = :assessmentId AND abandonedStep IS NULL;

-- on fish.capture.blocked
INSERT INTO blocked_capture VALUES (:assessmentId, :gate, 1)
ON CONFLICT (assessmentId, gate) DO UPDATE SET count = count + 1;

-- on fish.photo.captured
INSERT INTO photo VALUES (
    :assessmentId, coalesce(:photoId, :_origin), :imageId, :imageSize, :imageType, :imageKey,
    :widthPx, :heightPx, :takenOn, :takenAt, :gravityMicroG, :focalMpx, :focalSource, :principal,
    :gate, :gateResult, 0, :_position, :_replica, :_stamp, :_stamp
)
ON CONFLICT (assessmentId, photoId) DO NOTHING;

-- on fish.photo.discarded
-- One that is not named is the last one that its author knew.
UPDATE photo SET isDiscarded = 1, changed = :_stamp
WHERE assessmentId = :assessmentId AND isDiscarded = 0 AND photoId = coalesce(
    :photoId,
    (
        SELECT substr(max(hex(stamp) || photoId), 49) FROM photo
        WHERE assessmentId = :assessmentId AND isDiscarded = 0
            AND (position <= :_base OR replica = :_replica)
    )
);

-- on fish.photo.captured, fish.photo.discarded
-- Nothing rests on a photo that another one came after.
INSERT INTO change
SELECT :assessmentId, 'photo', :_replica, :_sequence, :_position
WHERE EXISTS (
    SELECT 1 FROM photo AS p
    WHERE p.assessmentId = :assessmentId AND p.changed = :_stamp AND NOT EXISTS (
        SELECT 1 FROM photo AS o
        WHERE o.assessmentId = :assessmentId AND o.isDiscarded = 0 AND o.stamp > p.stamp
    )
)
ON CONFLICT (assessmentId, what, replica) DO UPDATE
SET sequence = excluded.sequence, position = excluded.position;

-- on fish.marks.placed
-- Marks without a photo and without the size of one are on the last photo that their author knew.
INSERT INTO mark
SELECT :assessmentId,
    coalesce(
        :photoId, iif(:imageWidthPx IS NULL, NULL, ''),
        (
            SELECT substr(max(hex(stamp) || photoId), 49) FROM photo
            WHERE assessmentId = :assessmentId AND isDiscarded = 0
                AND (position <= :_base OR replica = :_replica)
        ), ''
    ),
    :target, :method, :points, :frame, :ellipse, :imageWidthPx, :imageHeightPx, :via, :zoomMilli,
    0, 0, 0, 0, 0, :_position, :_replica, :_stamp, :_stamp
WHERE true
ON CONFLICT (assessmentId, photoId, target) DO UPDATE
SET method = excluded.method, points = excluded.points, frame = excluded.frame,
    ellipse = excluded.ellipse, imageWidthPx = excluded.imageWidthPx,
    imageHeightPx = excluded.imageHeightPx, via = excluded.via, zoomMilli = excluded.zoomMilli,
    upMpx = 0, downMpx = 0, leftMpx = 0, rightMpx = 0, isCleared = 0,
    position = excluded.position, replica = excluded.replica, stamp = excluded.stamp,
    changed = excluded.changed
WHERE excluded.stamp > stamp;

-- on fish.marks.nudged
-- A nudge is meant for the mark that its author saw, and for no other one.
UPDATE mark
SET upMpx = upMpx + iif(:side = 'up', :deltaMpx, 0),
    downMpx = downMpx + iif(:side = 'down', :deltaMpx, 0),
    leftMpx = leftMpx + iif(:side = 'left', :deltaMpx, 0),
    rightMpx = rightMpx + iif(:side = 'right', :deltaMpx, 0), changed = :_stamp
WHERE assessmentId = :assessmentId AND target = :target AND isCleared = 0
    AND (position <= :_base OR replica = :_replica)
    AND photoId = coalesce(
        :photoId,
        (
            SELECT substr(max(hex(stamp) || photoId), 49) FROM photo
            WHERE assessmentId = :assessmentId AND isDiscarded = 0
                AND (position <= :_base OR replica = :_replica)
        ), ''
    );

-- on fish.marks.cleared
UPDATE mark
SET method = NULL, points = NULL, frame = NULL, ellipse = NULL, imageWidthPx = NULL,
    imageHeightPx = NULL, via = NULL, zoomMilli = NULL, upMpx = 0, downMpx = 0, leftMpx = 0,
    rightMpx = 0, isCleared = 1, position = :_position, replica = :_replica, stamp = :_stamp,
    changed = :_stamp
WHERE assessmentId = :assessmentId AND target = :target AND :_stamp > stamp
    AND photoId = coalesce(
        :photoId,
        (
            SELECT substr(max(hex(stamp) || photoId), 49) FROM photo
            WHERE assessmentId = :assessmentId AND isDiscarded = 0
                AND (position <= :_base OR replica = :_replica)
        ), ''
    );

-- on fish.marks.placed, fish.marks.nudged, fish.marks.cleared
-- Nothing rests on marks of another photo than the one in use, or on those that lost.
INSERT INTO change
SELECT :assessmentId, 'marks', :_replica, :_sequence, :_position
WHERE EXISTS (
    SELECT 1 FROM mark
    WHERE assessmentId = :assessmentId AND target = :target AND changed = :_stamp
        AND photoId = coalesce(
            (
                SELECT substr(max(hex(stamp) || photoId), 49) FROM photo
                WHERE assessmentId = :assessmentId AND isDiscarded = 0
            ), ''
        )
)
ON CONFLICT (assessmentId, what, replica) DO UPDATE
SET sequence = excluded.sequence, position = excluded.position;

-- on fish.detection.corrected
INSERT INTO detection VALUES (
    :assessmentId, :_origin, :photoId, :target, :proposed, :final, :overlapMilli, :_at
)
ON CONFLICT (assessmentId, origin) DO NOTHING;

-- on fish.length.measured
INSERT INTO measurement VALUES (
    :assessmentId, :_origin, :method, :algorithmVersion, :lengthUm, :sigmaUm, :scaleNmPerPx,
    :referenceId, :segment, :heightUm, :warnings, :inputsSha256, :_at, :_replica, :_sequence,
    coalesce(:_base, 0), :_stamp
)
ON CONFLICT (assessmentId, origin) DO NOTHING;

-- on fish.length.entered
INSERT INTO measurement VALUES (
    :assessmentId, :_origin, 'ruler', NULL, :lengthUm, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    :_at, :_replica, :_sequence, coalesce(:_base, 0), :_stamp
)
ON CONFLICT (assessmentId, origin) DO NOTHING;

-- on fish.length.measured, fish.length.entered
INSERT INTO change
SELECT :assessmentId, 'length', :_replica, :_sequence, :_position
WHERE NOT EXISTS (
    SELECT 1 FROM measurement WHERE assessmentId = :assessmentId AND stamp > :_stamp
)
ON CONFLICT (assessmentId, what, replica) DO UPDATE
SET sequence = excluded.sequence, position = excluded.position;

-- on fish.verdict.issued
INSERT INTO verdict VALUES (
    :assessmentId, :speciesId, :lengthUm, :sigmaUm, :minSizeUm, :minSizeKind, :seasonMask, :zoneId,
    :sizeResult, :isBorderline, :dateResult, :applicability, :month, :alternatives,
    :catalogueVersion, :_at, :_replica, :_sequence, coalesce(:_base, 0), :_stamp
)
ON CONFLICT (assessmentId) DO UPDATE
SET speciesId = excluded.speciesId, lengthUm = excluded.lengthUm, sigmaUm = excluded.sigmaUm,
    minSizeUm = excluded.minSizeUm, minSizeKind = excluded.minSizeKind,
    seasonMask = excluded.seasonMask, zoneId = excluded.zoneId,
    sizeResult = excluded.sizeResult, isBorderline = excluded.isBorderline,
    dateResult = excluded.dateResult, applicability = excluded.applicability,
    month = excluded.month, alternatives = excluded.alternatives,
    catalogueVersion = excluded.catalogueVersion, at = excluded.at, replica = excluded.replica,
    sequence = excluded.sequence, base = excluded.base, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.reference.selected
INSERT INTO change
SELECT :assessmentId, 'reference', :_replica, :_sequence, :_position
WHERE NOT EXISTS (
    SELECT 1 FROM answer
    WHERE assessmentId = :assessmentId AND field = 'reference'
        AND (value = :referenceId OR stamp > :_stamp)
)
ON CONFLICT (assessmentId, what, replica) DO UPDATE
SET sequence = excluded.sequence, position = excluded.position;
INSERT INTO answer VALUES (:assessmentId, 'reference', :referenceId, :_stamp)
ON CONFLICT (assessmentId, field) DO UPDATE
SET value = excluded.value, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.report.detail.set
INSERT INTO answer VALUES (:assessmentId, :field, :value, :_stamp)
ON CONFLICT (assessmentId, field) DO UPDATE
SET value = excluded.value, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
