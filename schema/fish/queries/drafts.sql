-- query drafts(user TEXT): a user's assessments that are neither reported nor abandoned
-- answers (assessmentId TEXT, startedOn DATE, speciesId TEXT, nameIt TEXT?, nameEn TEXT?,
--   takenOn DATE?, coin TEXT?, lengthMm REAL?, sizeResult RecordedSizeResult?,
--   dateResult DateResult?, nextStep AssessmentStep)
-- example user='user-8'
SELECT a.assessmentId, a.startedOn, a.speciesId, s.nameIt, s.nameEn, p.takenOn, c.value AS coin,
    v.lengthUm / 1000.0 AS lengthMm, v.sizeResult, v.dateResult,
    CASE
        WHEN v.assessmentId IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM verdict_outdated WHERE assessmentId = a.assessmentId)
            THEN 'details'
        WHEN m.origin IS NOT NULL
            AND NOT EXISTS (
                SELECT 1 FROM measurement_outdated AS o
                WHERE o.assessmentId = a.assessmentId AND o.origin = m.origin
            ) THEN 'verdict'
        WHEN p.photoId IS NULL
            AND NOT EXISTS (SELECT 1 FROM mark_in_use AS k WHERE k.assessmentId = a.assessmentId)
            THEN 'photo'
        WHEN c.value IS NULL THEN 'reference'
        ELSE 'marks'
    END AS nextStep
FROM assessment AS a
LEFT JOIN species AS s USING (speciesId)
LEFT JOIN photo_in_use AS p USING (assessmentId)
LEFT JOIN measured AS m USING (assessmentId)
LEFT JOIN verdict AS v USING (assessmentId)
LEFT JOIN answer AS c ON c.assessmentId = a.assessmentId AND c.field = 'reference'
WHERE a.actor = :user AND a.abandonedStep IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM report AS r WHERE r.assessmentId = a.assessmentId AND r.status <> 'foreign'
    )
ORDER BY a.startedOn DESC, a.assessmentId;
