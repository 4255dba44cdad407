-- Version 1 left the answers as they were, also where they no longer followed. That the rules of
-- this sea do not apply to a fish from another one is said wherever it is known.
SELECT :reportId AS reportId, :speciesId AS speciesId, :placeId AS placeId,
    :observedOn AS observedOn, :lengthUm AS lengthUm, NULL AS sigmaUm, NULL AS method,
    NULL AS referenceId, NULL AS minSizeUm, NULL AS minSizeKind, NULL AS seasonMask,
    NULL AS zoneId, NULL AS sizeResult, NULL AS isBorderline, NULL AS dateResult,
    iif(:provenance = 'other', 'informative', NULL) AS applicability, :provenance AS origin,
    :production AS production, NULL AS boughtOn, NULL AS boughtPlaceId, :reason AS reason;
