-- query drafts(user TEXT): a user's assessments that are neither reported nor abandoned
SELECT a.assessmentId, a.startedOn, a.speciesId, s.nameIt, p.takenOn, c.value AS coin,
    v.lengthUm / 1000.0 AS lengthMm, v.sizeResult, v.dateResult,
    CASE
        WHEN v.assessmentId IS NOT NULL THEN 'details'
        WHEN EXISTS (SELECT 1 FROM measurement AS m WHERE m.assessmentId = a.assessmentId)
            THEN 'verdict'
        WHEN p.isDiscarded IS NOT 0 THEN 'photo'
        WHEN c.value IS NULL THEN 'reference'
        ELSE 'marks'
    END AS nextStep
FROM assessment AS a
LEFT JOIN species AS s USING (speciesId)
LEFT JOIN photo AS p USING (assessmentId)
LEFT JOIN verdict AS v USING (assessmentId)
LEFT JOIN answer AS c ON c.assessmentId = a.assessmentId AND c.field = 'reference'
WHERE a.actor = :user AND a.abandonedStep IS NULL
    AND NOT EXISTS (SELECT 1 FROM assessment_report AS r WHERE r.assessmentId = a.assessmentId)
ORDER BY a.startedOn DESC, a.assessmentId;
