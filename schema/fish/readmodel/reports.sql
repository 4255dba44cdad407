-- readmodel reports version 1: reports as they stand, reviews, and sums by day and place
-- A field that can be amended has a clock of its own: two corrections of two fields both hold.
CREATE TABLE report (
    reportId TEXT NOT NULL PRIMARY KEY,
    assessmentId TEXT NOT NULL,
    actor TEXT,
    speciesId TEXT NOT NULL,
    placeId TEXT NOT NULL,
    observedOn TEXT NOT NULL,
    lengthUm INT NOT NULL,
    method TEXT NOT NULL,
    coin TEXT,
    sizeResult TEXT NOT NULL,
    dateResult TEXT NOT NULL,
    provenance TEXT,
    production TEXT,
    photoSha256 BLOB,
    consentPhoto INT,
    note TEXT,
    latE7 INT,
    lonE7 INT,
    isWithdrawn INT NOT NULL,
    reason TEXT,
    at INT NOT NULL,
    clock INT NOT NULL,
    replica TEXT NOT NULL,
    sequence INT NOT NULL,
    speciesClock INT NOT NULL,
    speciesReplica TEXT NOT NULL,
    speciesSequence INT NOT NULL,
    placeClock INT NOT NULL,
    placeReplica TEXT NOT NULL,
    placeSequence INT NOT NULL,
    observedClock INT NOT NULL,
    observedReplica TEXT NOT NULL,
    observedSequence INT NOT NULL,
    lengthClock INT NOT NULL,
    lengthReplica TEXT NOT NULL,
    lengthSequence INT NOT NULL,
    provenanceClock INT NOT NULL,
    provenanceReplica TEXT NOT NULL,
    provenanceSequence INT NOT NULL,
    productionClock INT NOT NULL,
    productionReplica TEXT NOT NULL,
    productionSequence INT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX report_actor ON report (actor, observedOn);
CREATE INDEX report_observed ON report (observedOn);

-- Two devices may file one assessment: the report filed first counts, others are doubles.
CREATE TABLE counted (
    assessmentId TEXT NOT NULL PRIMARY KEY,
    reportId TEXT NOT NULL UNIQUE REFERENCES report (reportId),
    clock INT NOT NULL,
    replica TEXT NOT NULL,
    sequence INT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a researcher said last; every review is kept.
CREATE TABLE review (
    reportId TEXT NOT NULL,
    origin TEXT NOT NULL,
    actor TEXT,
    outcome TEXT NOT NULL,
    remeasuredUm INT,
    note TEXT,
    at INT NOT NULL,
    clock INT NOT NULL,
    replica TEXT NOT NULL,
    sequence INT NOT NULL,
    PRIMARY KEY (reportId, origin)
) STRICT, WITHOUT ROWID;

-- Counted reports that were not withdrawn; lengths and their squares give mean and deviation.
CREATE TABLE report_day (
    observedOn TEXT NOT NULL,
    placeId TEXT NOT NULL,
    speciesId TEXT NOT NULL,
    reports INT NOT NULL,
    undersize INT NOT NULL,
    reproducing INT NOT NULL,
    bothOk INT NOT NULL,
    sumUm INT NOT NULL,
    sumUm2 INT NOT NULL,
    PRIMARY KEY (observedOn, placeId, speciesId)
) STRICT, WITHOUT ROWID;

-- on fish.report.filed
INSERT INTO report VALUES (
    :reportId, :assessmentId, :_actor, :speciesId, :placeId, :observedOn, :lengthUm, :method,
    :coin, :sizeResult, :dateResult, :provenance, :production, :photoSha256, :consentPhoto, :note,
    :latE7, :lonE7, 0, NULL, :_at, :_clock, :_replica, :_sequence,
    :_clock, :_replica, :_sequence, :_clock, :_replica, :_sequence,
    :_clock, :_replica, :_sequence, :_clock, :_replica, :_sequence,
    :_clock, :_replica, :_sequence, :_clock, :_replica, :_sequence
)
ON CONFLICT (reportId) DO NOTHING;
-- The report that has counted so far is taken out of the sums ...
INSERT INTO report_day
SELECT observedOn, placeId, speciesId, -1,
    -(sizeResult IN ('undersize', 'below_recommended')),
    -(dateResult = 'reproducing'),
    -(sizeResult NOT IN ('undersize', 'below_recommended') AND dateResult = 'in_season'),
    -lengthUm, -lengthUm * lengthUm
FROM report
WHERE isWithdrawn = 0
    AND reportId = (SELECT reportId FROM counted WHERE assessmentId = :assessmentId)
ON CONFLICT (observedOn, placeId, speciesId) DO UPDATE
SET reports = reports + excluded.reports, undersize = undersize + excluded.undersize,
    reproducing = reproducing + excluded.reproducing, bothOk = bothOk + excluded.bothOk,
    sumUm = sumUm + excluded.sumUm, sumUm2 = sumUm2 + excluded.sumUm2;
-- ... the first one is chosen again ...
INSERT INTO counted
SELECT assessmentId, reportId, clock, replica, sequence FROM report
WHERE reportId = :reportId AND assessmentId = :assessmentId
ON CONFLICT (assessmentId) DO UPDATE
SET reportId = excluded.reportId,
    clock = excluded.clock, replica = excluded.replica, sequence = excluded.sequence
WHERE (excluded.clock, excluded.replica, excluded.sequence) < (clock, replica, sequence);
-- ... and goes into them.
INSERT INTO report_day
SELECT observedOn, placeId, speciesId, 1,
    sizeResult IN ('undersize', 'below_recommended'),
    dateResult = 'reproducing',
    sizeResult NOT IN ('undersize', 'below_recommended') AND dateResult = 'in_season',
    lengthUm, lengthUm * lengthUm
FROM report
WHERE isWithdrawn = 0
    AND reportId = (SELECT reportId FROM counted WHERE assessmentId = :assessmentId)
ON CONFLICT (observedOn, placeId, speciesId) DO UPDATE
SET reports = reports + excluded.reports, undersize = undersize + excluded.undersize,
    reproducing = reproducing + excluded.reproducing, bothOk = bothOk + excluded.bothOk,
    sumUm = sumUm + excluded.sumUm, sumUm2 = sumUm2 + excluded.sumUm2;

-- on fish.report.amended
-- The sums lose the report as it was ...
INSERT INTO report_day
SELECT observedOn, placeId, speciesId, -1,
    -(sizeResult IN ('undersize', 'below_recommended')),
    -(dateResult = 'reproducing'),
    -(sizeResult NOT IN ('undersize', 'below_recommended') AND dateResult = 'in_season'),
    -lengthUm, -lengthUm * lengthUm
FROM report
WHERE isWithdrawn = 0
    AND reportId = (SELECT reportId FROM counted WHERE reportId = :reportId)
ON CONFLICT (observedOn, placeId, speciesId) DO UPDATE
SET reports = reports + excluded.reports, undersize = undersize + excluded.undersize,
    reproducing = reproducing + excluded.reproducing, bothOk = bothOk + excluded.bothOk,
    sumUm = sumUm + excluded.sumUm, sumUm2 = sumUm2 + excluded.sumUm2;
UPDATE report
SET speciesId = :speciesId,
    speciesClock = :_clock, speciesReplica = :_replica, speciesSequence = :_sequence
WHERE reportId = :reportId AND :speciesId IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (speciesClock, speciesReplica, speciesSequence);
UPDATE report
SET placeId = :placeId,
    placeClock = :_clock, placeReplica = :_replica, placeSequence = :_sequence
WHERE reportId = :reportId AND :placeId IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (placeClock, placeReplica, placeSequence);
UPDATE report
SET observedOn = :observedOn,
    observedClock = :_clock, observedReplica = :_replica, observedSequence = :_sequence
WHERE reportId = :reportId AND :observedOn IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (observedClock, observedReplica, observedSequence);
UPDATE report
SET lengthUm = :lengthUm,
    lengthClock = :_clock, lengthReplica = :_replica, lengthSequence = :_sequence
WHERE reportId = :reportId AND :lengthUm IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (lengthClock, lengthReplica, lengthSequence);
UPDATE report
SET provenance = :provenance,
    provenanceClock = :_clock, provenanceReplica = :_replica, provenanceSequence = :_sequence
WHERE reportId = :reportId AND :provenance IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (provenanceClock, provenanceReplica, provenanceSequence);
UPDATE report
SET production = :production,
    productionClock = :_clock, productionReplica = :_replica, productionSequence = :_sequence
WHERE reportId = :reportId AND :production IS NOT NULL
    AND (:_clock, :_replica, :_sequence) > (productionClock, productionReplica, productionSequence);
-- ... and get it as it is.
INSERT INTO report_day
SELECT observedOn, placeId, speciesId, 1,
    sizeResult IN ('undersize', 'below_recommended'),
    dateResult = 'reproducing',
    sizeResult NOT IN ('undersize', 'below_recommended') AND dateResult = 'in_season',
    lengthUm, lengthUm * lengthUm
FROM report
WHERE isWithdrawn = 0
    AND reportId = (SELECT reportId FROM counted WHERE reportId = :reportId)
ON CONFLICT (observedOn, placeId, speciesId) DO UPDATE
SET reports = reports + excluded.reports, undersize = undersize + excluded.undersize,
    reproducing = reproducing + excluded.reproducing, bothOk = bothOk + excluded.bothOk,
    sumUm = sumUm + excluded.sumUm, sumUm2 = sumUm2 + excluded.sumUm2;

-- on fish.report.withdrawn
-- It counts no more, whatever else is done to it; the first withdrawal gives the reason.
INSERT INTO report_day
SELECT observedOn, placeId, speciesId, -1,
    -(sizeResult IN ('undersize', 'below_recommended')),
    -(dateResult = 'reproducing'),
    -(sizeResult NOT IN ('undersize', 'below_recommended') AND dateResult = 'in_season'),
    -lengthUm, -lengthUm * lengthUm
FROM report
WHERE isWithdrawn = 0
    AND reportId = (SELECT reportId FROM counted WHERE reportId = :reportId)
ON CONFLICT (observedOn, placeId, speciesId) DO UPDATE
SET reports = reports + excluded.reports, undersize = undersize + excluded.undersize,
    reproducing = reproducing + excluded.reproducing, bothOk = bothOk + excluded.bothOk,
    sumUm = sumUm + excluded.sumUm, sumUm2 = sumUm2 + excluded.sumUm2;
UPDATE report SET isWithdrawn = 1, reason = :reason
WHERE reportId = :reportId AND isWithdrawn = 0;

-- on fish.report.reviewed
INSERT INTO review VALUES (
    :reportId, :_origin, :_actor, :outcome, :remeasuredUm, :note, :_at,
    :_clock, :_replica, :_sequence
)
ON CONFLICT (reportId, origin) DO NOTHING;
