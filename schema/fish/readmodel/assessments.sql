-- readmodel assessments version 1: each fish being judged, with photo, marks, lengths and verdict
-- What the user may still change has a stamp of its own: two devices can go on with one draft.
CREATE TABLE assessment (
    assessmentId TEXT NOT NULL PRIMARY KEY,
    actor TEXT,
    speciesId TEXT NOT NULL,
    startedOn TEXT NOT NULL,
    timeZone TEXT,
    note TEXT,
    abandonedStep TEXT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX assessment_actor ON assessment (actor, startedOn);

-- The photo in use; one that was discarded keeps its row, so that a late event cannot revive it.
CREATE TABLE photo (
    assessmentId TEXT NOT NULL PRIMARY KEY,
    photoSha256 BLOB NOT NULL,
    mime TEXT NOT NULL,
    widthPx INT NOT NULL,
    heightPx INT NOT NULL,
    takenOn TEXT NOT NULL,
    takenAt INT,
    gravityMicroG TEXT,
    focalMpx INT,
    gateResult TEXT NOT NULL,
    isDiscarded INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A mark as it was placed, and by how much each side was nudged since.
CREATE TABLE mark (
    assessmentId TEXT NOT NULL,
    target TEXT NOT NULL,
    method TEXT,
    points TEXT,
    frame TEXT,
    ellipse TEXT,
    via TEXT,
    zoomMilli INT,
    upMpx INT NOT NULL,
    downMpx INT NOT NULL,
    leftMpx INT NOT NULL,
    rightMpx INT NOT NULL,
    isCleared INT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (assessmentId, target)
) STRICT, WITHOUT ROWID;

-- Every attempt, by mark or by ruler; the one with the latest clock is shown.
CREATE TABLE measurement (
    assessmentId TEXT NOT NULL,
    origin TEXT NOT NULL,
    method TEXT NOT NULL,
    algorithmVersion INT,
    lengthUm INT NOT NULL,
    sigmaUm INT,
    scaleNmPerPx INT,
    referenceId TEXT,
    inputsSha256 BLOB,
    at INT NOT NULL,
    clock INT NOT NULL,
    PRIMARY KEY (assessmentId, origin)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdict (
    assessmentId TEXT NOT NULL PRIMARY KEY,
    lengthUm INT NOT NULL,
    minSizeUm INT,
    sizeResult TEXT NOT NULL,
    dateResult TEXT NOT NULL,
    month INT NOT NULL,
    alternatives TEXT,
    catalogueVersion INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The coin, and what the report will say: one row for each answer.
CREATE TABLE answer (
    assessmentId TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (assessmentId, field)
) STRICT, WITHOUT ROWID;

-- Which assessments ended in a report.
CREATE TABLE assessment_report (
    assessmentId TEXT NOT NULL,
    reportId TEXT NOT NULL,
    PRIMARY KEY (assessmentId, reportId)
) STRICT, WITHOUT ROWID;

-- on fish.assessment.started
INSERT INTO assessment VALUES (
    :assessmentId, :_actor, :speciesId, :startedOn, :timeZone, :note, NULL, :_stamp
)
ON CONFLICT (assessmentId) DO NOTHING;

-- on fish.assessment.species.changed
UPDATE assessment SET speciesId = :speciesId, stamp = :_stamp
WHERE assessmentId = :assessmentId AND :_stamp > stamp;

-- on fish.assessment.abandoned
UPDATE assessment SET abandonedStep = :step WHERE assessmentId = :assessmentId;

-- on fish.photo.captured
INSERT INTO photo VALUES (
    :assessmentId, :photoSha256, :mime, :widthPx, :heightPx, :takenOn, :takenAt, :gravityMicroG,
    :focalMpx, :gateResult, 0, :_stamp
)
ON CONFLICT (assessmentId) DO UPDATE
SET photoSha256 = excluded.photoSha256, mime = excluded.mime, widthPx = excluded.widthPx,
    heightPx = excluded.heightPx, takenOn = excluded.takenOn, takenAt = excluded.takenAt,
    gravityMicroG = excluded.gravityMicroG, focalMpx = excluded.focalMpx,
    gateResult = excluded.gateResult, isDiscarded = 0, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.photo.discarded
UPDATE photo SET isDiscarded = 1, stamp = :_stamp
WHERE assessmentId = :assessmentId AND photoSha256 = :photoSha256 AND :_stamp > stamp;
-- Marks mean nothing without the photo that they were placed on; later ones are on another.
INSERT INTO mark VALUES
    (
        :assessmentId, 'fish', NULL, NULL, NULL, NULL, NULL, NULL,
        0, 0, 0, 0, 1, :_stamp
    ),
    (
        :assessmentId, 'reference', NULL, NULL, NULL, NULL, NULL, NULL,
        0, 0, 0, 0, 1, :_stamp
    )
ON CONFLICT (assessmentId, target) DO UPDATE
SET method = NULL, points = NULL, frame = NULL, ellipse = NULL, via = NULL, zoomMilli = NULL,
    upMpx = 0, downMpx = 0, leftMpx = 0, rightMpx = 0, isCleared = 1, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.marks.placed
INSERT INTO mark VALUES (
    :assessmentId, :target, :method, :points, :frame, :ellipse, :via, :zoomMilli,
    0, 0, 0, 0, 0, :_stamp
)
ON CONFLICT (assessmentId, target) DO UPDATE
SET method = excluded.method, points = excluded.points, frame = excluded.frame,
    ellipse = excluded.ellipse, via = excluded.via, zoomMilli = excluded.zoomMilli,
    upMpx = 0, downMpx = 0, leftMpx = 0, rightMpx = 0, isCleared = 0, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.marks.nudged
-- A nudge older than the mark was meant for the one before it.
UPDATE mark
SET upMpx = upMpx + iif(:side = 'up', :deltaMpx, 0),
    downMpx = downMpx + iif(:side = 'down', :deltaMpx, 0),
    leftMpx = leftMpx + iif(:side = 'left', :deltaMpx, 0),
    rightMpx = rightMpx + iif(:side = 'right', :deltaMpx, 0)
WHERE assessmentId = :assessmentId AND target = :target AND isCleared = 0 AND :_stamp > stamp;

-- on fish.marks.cleared
INSERT INTO mark VALUES (
    :assessmentId, :target, NULL, NULL, NULL, NULL, NULL, NULL,
    0, 0, 0, 0, 1, :_stamp
)
ON CONFLICT (assessmentId, target) DO UPDATE
SET method = NULL, points = NULL, frame = NULL, ellipse = NULL, via = NULL, zoomMilli = NULL,
    upMpx = 0, downMpx = 0, leftMpx = 0, rightMpx = 0, isCleared = 1, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.length.measured
INSERT INTO measurement VALUES (
    :assessmentId, :_origin, :method, :algorithmVersion, :lengthUm, :sigmaUm, :scaleNmPerPx,
    :referenceId, :inputsSha256, :_at, :_clock
)
ON CONFLICT (assessmentId, origin) DO NOTHING;

-- on fish.length.entered
INSERT INTO measurement VALUES (
    :assessmentId, :_origin, 'ruler', NULL, :lengthUm, NULL, NULL, NULL, NULL, :_at, :_clock
)
ON CONFLICT (assessmentId, origin) DO NOTHING;

-- on fish.verdict.issued
INSERT INTO verdict VALUES (
    :assessmentId, :lengthUm, :minSizeUm, :sizeResult, :dateResult, :month, :alternatives,
    :catalogueVersion, :_stamp
)
ON CONFLICT (assessmentId) DO UPDATE
SET lengthUm = excluded.lengthUm, minSizeUm = excluded.minSizeUm,
    sizeResult = excluded.sizeResult, dateResult = excluded.dateResult, month = excluded.month,
    alternatives = excluded.alternatives, catalogueVersion = excluded.catalogueVersion,
    stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.reference.selected
INSERT INTO answer VALUES (:assessmentId, 'reference', :referenceId, :_stamp)
ON CONFLICT (assessmentId, field) DO UPDATE
SET value = excluded.value, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.report.detail.set
INSERT INTO answer VALUES (:assessmentId, :field, :value, :_stamp)
ON CONFLICT (assessmentId, field) DO UPDATE
SET value = excluded.value, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.report.filed
INSERT INTO assessment_report VALUES (:assessmentId, :reportId)
ON CONFLICT (assessmentId, reportId) DO NOTHING;
