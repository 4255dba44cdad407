-- readmodel consents version 1: the pictures that their users let researchers look at
CREATE TABLE picture (
    assessmentId TEXT NOT NULL,
    photoId TEXT NOT NULL,
    actor TEXT NOT NULL,
    imageId BLOB NOT NULL,
    PRIMARY KEY (assessmentId, photoId, actor)
) STRICT, WITHOUT ROWID;

CREATE INDEX picture_image ON picture (imageId);

-- Consent and withdrawal have a stamp each: the last word on either holds.
CREATE TABLE consent (
    reportId TEXT NOT NULL,
    actor TEXT NOT NULL,
    assessmentId TEXT NOT NULL,
    photoId TEXT NOT NULL,
    isGiven INT NOT NULL,
    givenStamp BLOB NOT NULL,
    isWithdrawn INT NOT NULL,
    withdrawnStamp BLOB NOT NULL,
    PRIMARY KEY (reportId, actor)
) STRICT, WITHOUT ROWID;

CREATE INDEX consent_photo ON consent (assessmentId, photoId, actor);

-- The engine asks this view whose pictures may leave the devices that took them.
CREATE VIEW released_blob AS
SELECT p.imageId AS id, p.actor
FROM picture AS p
WHERE EXISTS (
    SELECT 1 FROM consent AS c
    WHERE c.assessmentId = p.assessmentId AND c.photoId = p.photoId AND c.actor = p.actor
        AND c.isGiven = 1 AND c.isWithdrawn = 0
);

-- on fish.photo.captured
INSERT INTO picture
SELECT :assessmentId, :photoId, coalesce(:_actor, '-'), :imageId WHERE :imageId IS NOT NULL
ON CONFLICT (assessmentId, photoId, actor) DO NOTHING;

-- on fish.report.filed
INSERT INTO consent
SELECT :reportId, coalesce(:_actor, '-'), :assessmentId, :photoId, coalesce(:consentPhoto, 0),
    :_stamp, 0, :_stamp
WHERE :assessmentId IS NOT NULL AND :photoId IS NOT NULL
ON CONFLICT (reportId, actor) DO NOTHING;

-- on fish.report.amended
UPDATE consent SET isGiven = :consentPhoto, givenStamp = :_stamp
WHERE reportId = :reportId AND actor = coalesce(:_actor, '-') AND givenStamp < :_stamp
    AND :consentPhoto IS NOT NULL;

-- on fish.report.withdrawn
UPDATE consent SET isWithdrawn = 1, withdrawnStamp = :_stamp
WHERE reportId = :reportId AND actor = coalesce(:_actor, '-') AND withdrawnStamp < :_stamp;

-- on fish.report.restored
UPDATE consent SET isWithdrawn = 0, withdrawnStamp = :_stamp
WHERE reportId = :reportId AND actor = coalesce(:_actor, '-') AND withdrawnStamp < :_stamp;
