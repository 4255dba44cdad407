SELECT :speciesId AS speciesId, NULL AS ordinal, :nameIt AS nameIt, :nameEn AS nameEn,
    :nameSci AS nameSci, :family AS family, :measure AS measure, :minSizeKind AS minSizeKind,
    :minSizeUm AS minSizeUm, :seasonMask AS seasonMask, :legalBasis AS legalBasis,
    NULL AS validFrom;
