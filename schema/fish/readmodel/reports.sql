-- readmodel reports version 1: reports as they stand, reviews, and sums by day and place
-- A field that can be amended has a stamp of its own: two corrections of two fields both hold.
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
    stamp BLOB NOT NULL,
    speciesStamp BLOB NOT NULL,
    placeStamp BLOB NOT NULL,
    observedStamp BLOB NOT NULL,
    lengthStamp BLOB NOT NULL,
    provenanceStamp BLOB NOT NULL,
    productionStamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX report_actor ON report (actor, observedOn);
CREATE INDEX report_observed ON report (observedOn);

-- For the next view.
CREATE INDEX report_assessment ON report (assessmentId, stamp);

-- Two devices may file one assessment: the report filed first counts, others are doubles.
CREATE VIEW counted AS
SELECT * FROM report AS r
WHERE NOT EXISTS (
    SELECT 1 FROM report AS o WHERE o.assessmentId = r.assessmentId AND o.stamp < r.stamp
);

-- What a researcher said last; every review is kept.
CREATE TABLE review (
    reportId TEXT NOT NULL,
    origin TEXT NOT NULL,
    actor TEXT,
    outcome TEXT NOT NULL,
    remeasuredUm INT,
    note TEXT,
    at INT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (reportId, origin)
) STRICT, WITHOUT ROWID;

-- Counted reports that were not withdrawn; lengths and their squares give mean and deviation.
CREATE VIEW report_day AS
SELECT observedOn, placeId, speciesId, count(*) AS reports,
    sum(sizeResult IN ('undersize', 'below_recommended')) AS undersize,
    sum(dateResult = 'reproducing') AS reproducing,
    sum(
        sizeResult NOT IN ('undersize', 'below_recommended') AND dateResult = 'in_season'
    ) AS bothOk,
    sum(lengthUm) AS sumUm, sum(lengthUm * lengthUm) AS sumUm2
FROM counted WHERE isWithdrawn = 0
GROUP BY observedOn, placeId, speciesId;

-- on fish.report.filed
INSERT INTO report VALUES (
    :reportId, :assessmentId, :_actor, :speciesId, :placeId, :observedOn, :lengthUm, :method,
    :coin, :sizeResult, :dateResult, :provenance, :production, :photoSha256, :consentPhoto, :note,
    :latE7, :lonE7, 0, NULL, :_at, :_stamp, :_stamp, :_stamp, :_stamp, :_stamp, :_stamp, :_stamp
)
ON CONFLICT (reportId) DO NOTHING;

-- on fish.report.amended
UPDATE report SET speciesId = :speciesId, speciesStamp = :_stamp
WHERE reportId = :reportId AND :speciesId IS NOT NULL AND :_stamp > speciesStamp;
UPDATE report SET placeId = :placeId, placeStamp = :_stamp
WHERE reportId = :reportId AND :placeId IS NOT NULL AND :_stamp > placeStamp;
UPDATE report SET observedOn = :observedOn, observedStamp = :_stamp
WHERE reportId = :reportId AND :observedOn IS NOT NULL AND :_stamp > observedStamp;
UPDATE report SET lengthUm = :lengthUm, lengthStamp = :_stamp
WHERE reportId = :reportId AND :lengthUm IS NOT NULL AND :_stamp > lengthStamp;
UPDATE report SET provenance = :provenance, provenanceStamp = :_stamp
WHERE reportId = :reportId AND :provenance IS NOT NULL AND :_stamp > provenanceStamp;
UPDATE report SET production = :production, productionStamp = :_stamp
WHERE reportId = :reportId AND :production IS NOT NULL AND :_stamp > productionStamp;

-- on fish.report.withdrawn
-- It counts no more, whatever else is done to it; the first withdrawal gives the reason.
UPDATE report SET isWithdrawn = 1, reason = :reason
WHERE reportId = :reportId AND isWithdrawn = 0;

-- on fish.report.reviewed
INSERT INTO review VALUES (
    :reportId, :_origin, :_actor, :outcome, :remeasuredUm, :note, :_at, :_stamp
)
ON CONFLICT (reportId, origin) DO NOTHING;
