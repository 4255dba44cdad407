-- Version 1 stored neither the kind of the minimum nor the season. The kind follows from some of
-- the answers, and is unknown beside the others.
-- 'borderline' took the place of the answer. If the length is not below the minimum, that was 'ok'.
-- Below it, a legal minimum would give 'undersize' and a recommended one 'below_recommended': as
-- the kind is unknown, so is the answer. Without a minimum it is unknown too.
-- Nobody was asked where the fish came from, so both rules were applied.
SELECT :assessmentId AS assessmentId, NULL AS speciesId, :lengthUm AS lengthUm, NULL AS sigmaUm,
    :minSizeUm AS minSizeUm,
    CASE :sizeResult
        WHEN 'undersize' THEN 'legal' WHEN 'below_recommended' THEN 'recommended'
        WHEN 'not_required' THEN 'none' ELSE 'unknown'
    END AS minSizeKind,
    NULL AS seasonMask, NULL AS zoneId,
    CASE
        WHEN :sizeResult <> 'borderline' THEN :sizeResult
        WHEN :lengthUm >= :minSizeUm THEN 'ok'
        ELSE 'unknown'
    END AS sizeResult,
    :sizeResult = 'borderline' AS isBorderline, :dateResult AS dateResult,
    'full' AS applicability, :month AS month, :alternatives AS alternatives,
    :catalogueVersion AS catalogueVersion;
