-- query attempts(assessmentId TEXT): all lengths found for a fish, the latest first
SELECT m.method, m.algorithmVersion, m.lengthUm / 1000.0 AS lengthMm, m.sigmaUm / 1000.0 AS sigmaMm,
    m.referenceId, (m.lengthUm - s.minSizeUm) / 1000.0 AS aboveMinimumMm, m.at
FROM measurement AS m
LEFT JOIN assessment AS a USING (assessmentId)
LEFT JOIN species AS s USING (speciesId)
WHERE m.assessmentId = :assessmentId
ORDER BY m.clock DESC, m.origin DESC;
