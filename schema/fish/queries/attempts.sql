-- query attempts(assessmentId TEXT): all lengths found for a fish, the latest first
-- answers (method ReportMethod, algorithmVersion INTEGER?, lengthMm REAL, sigmaMm REAL?,
--   referenceId TEXT?, aboveMinimumMm REAL?, warnings TEXT[]?, at TIME)
-- example assessmentId='quay-1'
-- example assessmentId='tablet-0007'
SELECT m.method, m.algorithmVersion, m.lengthUm / 1000.0 AS lengthMm, m.sigmaUm / 1000.0 AS sigmaMm,
    m.referenceId, (m.lengthUm - n.minSizeUm) / 1000.0 AS aboveMinimumMm, m.warnings, m.at
FROM measurement AS m
LEFT JOIN assessment AS a USING (assessmentId)
LEFT JOIN minimum AS n ON n.speciesId = a.speciesId AND n.validFrom = (
    SELECT max(validFrom) FROM minimum
    WHERE speciesId = a.speciesId AND validFrom <= a.startedOn
)
WHERE m.assessmentId = :assessmentId
ORDER BY m.stamp DESC;
