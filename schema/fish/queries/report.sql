-- query report(reportId TEXT): all of one report as it stands, in one row
-- answers (reportId TEXT, assessmentId TEXT?, actor TEXT, status ReportStatus, speciesId TEXT,
--   ordinal INTEGER?, nameIt TEXT?, nameEn TEXT?, placeId TEXT, place TEXT?, municipality TEXT?,
--   observedOn DATE, lengthUm INTEGER, sigmaUm INTEGER?, remeasuredUm INTEGER?,
--   method ReportMethod, referenceId TEXT?, minSizeUm INTEGER?, minSizeKind RecordedMinSizeKind,
--   seasonMask INTEGER?, zoneId TEXT?, sizeResult RecordedSizeResult, isBorderline BOOLEAN,
--   dateResult DateResult, applicability Applicability, follows BOOLEAN, sizeFollowing SizeResult?,
--   dateFollowing DateResult?, origin RecordedOrigin, production Production, source ReportSource,
--   boughtOn DATE?, boughtPlaceId TEXT?, photoId TEXT?, consentPhoto BOOLEAN?, note TEXT?,
--   latE7 INTEGER?, lonE7 INTEGER?, isWithdrawn BOOLEAN, reason TEXT?, review ReviewOutcome?,
--   reviews INTEGER, otherReportId TEXT?, at TIME)
-- example reportId='quay-1-r'
-- example reportId='quay-1-r2'
SELECT r.reportId, r.assessmentId, r.actor, r.status, r.speciesId, s.ordinal, s.nameIt, s.nameEn,
    r.placeId, p.name AS place, m.name AS municipality, r.observedOn, r.lengthUm, r.sigmaUm,
    r.remeasuredUm, r.method, r.referenceId, r.minSizeUm, r.minSizeKind, r.seasonMask, r.zoneId,
    r.sizeResult, r.isBorderline, r.dateResult, r.applicability, r.follows, r.sizeFollowing,
    r.dateFollowing, r.origin, r.production, r.source, r.boughtOn, r.boughtPlaceId, r.photoId,
    coalesce(
        (SELECT c.isGiven FROM consent AS c WHERE c.reportId = r.reportId AND c.actor = r.actor),
        r.consentPhoto
    ) AS consentPhoto, r.note, r.latE7, r.lonE7, r.isWithdrawn, r.reason, r.review,
    (SELECT count(*) FROM review AS v WHERE v.reportId = r.reportId) AS reviews,
    (
        SELECT o.reportId FROM report AS o
        WHERE o.assessmentId = r.assessmentId AND o.reportId <> r.reportId
            AND o.status NOT IN ('withdrawn', 'duplicate', 'foreign')
    ) AS otherReportId, r.at
FROM report AS r
LEFT JOIN species AS s USING (speciesId)
LEFT JOIN place AS p ON p.placeId = r.placeId
LEFT JOIN place AS m ON m.placeId = p.parentId
WHERE r.reportId = :reportId;
