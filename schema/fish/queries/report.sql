-- query report(reportId TEXT): all of one report as it stands, in one row
SELECT r.reportId, r.assessmentId, r.actor, r.status, r.speciesId, s.ordinal, s.nameIt, s.nameEn,
    r.placeId, p.name AS place, m.name AS municipality, r.observedOn, r.lengthUm, r.sigmaUm,
    r.remeasuredUm, r.method, r.referenceId, r.minSizeUm, r.minSizeKind, r.seasonMask, r.zoneId,
    r.sizeResult, r.isBorderline, r.dateResult, r.applicability, r.follows, r.sizeFollowing,
    r.dateFollowing, r.origin, r.production, r.source, r.boughtOn, r.boughtPlaceId, r.photoId,
    r.consentPhoto, r.note, r.latE7, r.lonE7, r.isWithdrawn, r.reason, r.review,
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
