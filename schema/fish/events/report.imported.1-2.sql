-- Version 1 took each row once, whatever its day: it is the first one of the day of its report.
SELECT :reportId AS reportId, :importId AS importId, :rowSha256 AS rowSha256, NULL AS observedOn,
    1 AS ordinal, :line AS line, :idFish AS idFish, :fishName AS fishName,
    :detectedSize AS detectedSize, :eligibilitySize AS eligibilitySize,
    :eligibilityDate AS eligibilityDate, :origin AS origin, :production AS production,
    :townReport AS townReport;
