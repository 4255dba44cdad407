-- query photos(assessmentId TEXT): the photos of an assessment that were kept, the latest first
-- answers (photoId TEXT, takenOn DATE, takenAt TIME?, widthPx INTEGER, heightPx INTEGER,
--   gateResult GateResult, imageId BLOB?, imageSize INTEGER?, imageType TEXT?, isInUse BOOLEAN)
-- example assessmentId='quay-1'
SELECT p.photoId, p.takenOn, p.takenAt, p.widthPx, p.heightPx, p.gateResult, p.imageId,
    p.imageSize, p.imageType, p.photoId = u.photoId AS isInUse
FROM photo AS p
LEFT JOIN photo_in_use AS u ON u.assessmentId = p.assessmentId
WHERE p.assessmentId = :assessmentId AND p.isDiscarded = 0
ORDER BY p.stamp DESC;
