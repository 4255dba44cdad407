-- Who reads an amendment looks at its version: what version 2 says stays as it said it.
SELECT :reportId AS reportId, :speciesId AS speciesId, :placeId AS placeId,
    :observedOn AS observedOn, :lengthUm AS lengthUm, :sigmaUm AS sigmaUm, :method AS method,
    :referenceId AS referenceId, :minSizeUm AS minSizeUm, :minSizeKind AS minSizeKind,
    :seasonMask AS seasonMask, :zoneId AS zoneId, :sizeResult AS sizeResult,
    :isBorderline AS isBorderline, :dateResult AS dateResult, :applicability AS applicability,
    :origin AS origin, :production AS production, :boughtOn AS boughtOn,
    :boughtPlaceId AS boughtPlaceId, :reason AS reason;
