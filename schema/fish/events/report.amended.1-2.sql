-- Version 1 left the answers as they were, also where they no longer followed. How far the rules
-- apply is said where origin and production are both here.
SELECT :reportId AS reportId, :speciesId AS speciesId, :placeId AS placeId,
    :observedOn AS observedOn, :lengthUm AS lengthUm, NULL AS sigmaUm, NULL AS method,
    NULL AS referenceId, NULL AS minSizeUm, NULL AS minSizeKind, NULL AS seasonMask,
    NULL AS zoneId, NULL AS sizeResult, NULL AS isBorderline, NULL AS dateResult,
    CASE
        WHEN :production = 'farmed' THEN 'informative'
        WHEN :provenance = 'other' AND :production IS NOT NULL THEN 'size_only'
        WHEN :provenance = 'mediterranean' AND :production IS NOT NULL THEN 'full'
    END AS applicability,
    :provenance AS origin, :production AS production, NULL AS boughtOn, NULL AS boughtPlaceId,
    :reason AS reason;
