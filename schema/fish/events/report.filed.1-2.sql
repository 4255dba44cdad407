-- Version 1 did not store what a fish was judged by. The kind of the minimum follows from some of
-- the answers; the minimum itself and the season stay unknown, since the catalogue that held on the
-- device is not in the event. So a report that said 'borderline' has no answer from the length
-- alone.
-- Origin and production could be left open, and then are unknown. The seasons are those of this
-- sea, and a farmed fish is taken from no stock.
SELECT :reportId AS reportId, :assessmentId AS assessmentId, :speciesId AS speciesId,
    :placeId AS placeId, :observedOn AS observedOn, :lengthUm AS lengthUm, NULL AS sigmaUm,
    :method AS method, :coin AS referenceId, NULL AS minSizeUm,
    CASE :sizeResult
        WHEN 'undersize' THEN 'legal' WHEN 'below_recommended' THEN 'recommended'
        WHEN 'not_required' THEN 'none' ELSE 'unknown'
    END AS minSizeKind,
    NULL AS seasonMask, NULL AS zoneId,
    iif(:sizeResult = 'borderline', 'unknown', :sizeResult) AS sizeResult,
    :sizeResult = 'borderline' AS isBorderline, :dateResult AS dateResult,
    CASE
        WHEN :production = 'farmed' THEN 'informative'
        WHEN :provenance = 'other' THEN 'size_only'
        ELSE 'full'
    END AS applicability,
    coalesce(:provenance, 'unknown') AS origin, coalesce(:production, 'unknown') AS production,
    'app' AS source, NULL AS boughtOn, NULL AS boughtPlaceId, NULL AS photoId,
    :consentPhoto AS consentPhoto, :note AS note, :latE7 AS latE7, :lonE7 AS lonE7;
