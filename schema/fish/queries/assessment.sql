-- query assessment(assessmentId TEXT): all of one assessment as it stands, in one row
-- answers (assessmentId TEXT, actor TEXT, state AssessmentState, nextStep AssessmentStep?,
--   abandonedStep AssessmentStep?, speciesId TEXT, startedOn DATE, timeZone TEXT?, note TEXT?,
--   photoId TEXT?, imageId BLOB?, imageSize INTEGER?, imageType TEXT?, imageKey BLOB?,
--   imageState BlobState?, widthPx INTEGER?, heightPx INTEGER?, takenOn DATE?, takenAt TIME?,
--   gravityMicroG INTEGER[]?, focalMpx INTEGER?, focalSource FocalSource?, principal Point?,
--   gate Gate?, gateResult GateResult?, referenceId TEXT?, fishMethod Method?, fishPoints Point[]?,
--   fishFrame Frame?, fishEllipse Ellipse?, fishImageWidthPx INTEGER?, fishImageHeightPx INTEGER?,
--   fishUpMpx INTEGER?, fishDownMpx INTEGER?, fishLeftMpx INTEGER?, fishRightMpx INTEGER?,
--   fishVia Via?, referenceMethod Method?, referencePoints Point[]?, referenceFrame Frame?,
--   referenceEllipse Ellipse?, referenceUpMpx INTEGER?, referenceDownMpx INTEGER?,
--   referenceLeftMpx INTEGER?, referenceRightMpx INTEGER?, referenceVia Via?,
--   measurementOrigin TEXT?, method ReportMethod?, algorithmVersion INTEGER?, lengthUm INTEGER?,
--   sigmaUm INTEGER?, scaleNmPerPx INTEGER?, measuredReferenceId TEXT?, segment Point[]?,
--   heightUm INTEGER?, warnings TEXT[]?, lengthOutdatedBy TEXT?, verdictSpeciesId TEXT?,
--   verdictLengthUm INTEGER?, verdictSigmaUm INTEGER?, minSizeUm INTEGER?,
--   minSizeKind RecordedMinSizeKind?, seasonMask INTEGER?, zoneId TEXT?,
--   sizeResult RecordedSizeResult?, isBorderline BOOLEAN?, dateResult DateResult?,
--   applicability Applicability?, month Month?, alternatives TEXT[]?, catalogueVersion INTEGER?,
--   verdictOutdatedBy TEXT?, origin TEXT?, production TEXT?, placeId TEXT?, reportId TEXT?,
--   reportStatus ReportStatus?)
-- example assessmentId='quay-1'
-- example assessmentId='quay-2'
-- example assessmentId='tablet-0007'
-- example assessmentId='jetty-12'
-- example assessmentId='market-1'
SELECT a.assessmentId, a.actor,
    CASE
        WHEN f.reportId IS NOT NULL THEN 'reported'
        WHEN a.abandonedStep IS NOT NULL THEN 'abandoned'
        ELSE 'open'
    END AS state,
    CASE
        WHEN f.reportId IS NOT NULL OR a.abandonedStep IS NOT NULL THEN NULL
        WHEN v.assessmentId IS NOT NULL AND vo.what IS NULL
            THEN iif(o.value IS NULL OR n.value IS NULL OR l.value IS NULL, 'details', 'report')
        WHEN m.origin IS NOT NULL AND mo.what IS NULL THEN 'verdict'
        WHEN p.photoId IS NULL AND fm.target IS NULL THEN 'photo'
        WHEN c.value IS NULL THEN 'reference'
        WHEN fm.target IS NULL OR rm.target IS NULL THEN 'marks'
        ELSE 'length'
    END AS nextStep,
    a.abandonedStep, a.speciesId, a.startedOn, a.timeZone, a.note,
    p.photoId, p.imageId, p.imageSize, p.imageType, p.imageKey, blob_state(p.imageId) AS imageState,
    p.widthPx, p.heightPx, p.takenOn, p.takenAt, p.gravityMicroG, p.focalMpx, p.focalSource,
    p.principal, p.gate, p.gateResult,
    c.value AS referenceId,
    fm.method AS fishMethod, fm.points AS fishPoints, fm.frame AS fishFrame,
    fm.ellipse AS fishEllipse, fm.imageWidthPx AS fishImageWidthPx,
    fm.imageHeightPx AS fishImageHeightPx, fm.upMpx AS fishUpMpx, fm.downMpx AS fishDownMpx,
    fm.leftMpx AS fishLeftMpx, fm.rightMpx AS fishRightMpx, fm.via AS fishVia,
    rm.method AS referenceMethod, rm.points AS referencePoints, rm.frame AS referenceFrame,
    rm.ellipse AS referenceEllipse, rm.upMpx AS referenceUpMpx, rm.downMpx AS referenceDownMpx,
    rm.leftMpx AS referenceLeftMpx, rm.rightMpx AS referenceRightMpx, rm.via AS referenceVia,
    m.origin AS measurementOrigin, m.method, m.algorithmVersion, m.lengthUm, m.sigmaUm,
    m.scaleNmPerPx, m.referenceId AS measuredReferenceId, m.segment, m.heightUm, m.warnings,
    mo.what AS lengthOutdatedBy,
    v.speciesId AS verdictSpeciesId, v.lengthUm AS verdictLengthUm, v.sigmaUm AS verdictSigmaUm,
    v.minSizeUm, v.minSizeKind, v.seasonMask, v.zoneId, v.sizeResult, v.isBorderline,
    v.dateResult, v.applicability, v.month, v.alternatives, v.catalogueVersion,
    vo.what AS verdictOutdatedBy,
    o.value AS origin, n.value AS production, l.value AS placeId, f.reportId,
    coalesce(f.status, w.status) AS reportStatus
FROM assessment AS a
LEFT JOIN photo_in_use AS p ON p.assessmentId = a.assessmentId
LEFT JOIN mark_in_use AS fm ON fm.assessmentId = a.assessmentId AND fm.target = 'fish'
LEFT JOIN mark_in_use AS rm ON rm.assessmentId = a.assessmentId AND rm.target = 'reference'
LEFT JOIN measured AS m ON m.assessmentId = a.assessmentId
LEFT JOIN (
    SELECT assessmentId, origin, group_concat(what, ' ') AS what
    FROM measurement_outdated WHERE assessmentId = :assessmentId GROUP BY assessmentId, origin
) AS mo ON mo.assessmentId = a.assessmentId AND mo.origin = m.origin
LEFT JOIN verdict AS v ON v.assessmentId = a.assessmentId
LEFT JOIN (
    SELECT assessmentId, group_concat(what, ' ') AS what
    FROM verdict_outdated WHERE assessmentId = :assessmentId GROUP BY assessmentId
) AS vo ON vo.assessmentId = a.assessmentId
LEFT JOIN answer AS c ON c.assessmentId = a.assessmentId AND c.field = 'reference'
LEFT JOIN answer AS o ON o.assessmentId = a.assessmentId AND o.field = 'origin'
LEFT JOIN answer AS n ON n.assessmentId = a.assessmentId AND n.field = 'production'
LEFT JOIN answer AS l ON l.assessmentId = a.assessmentId AND l.field = 'place'
LEFT JOIN report AS f ON f.assessmentId = a.assessmentId
    AND f.status NOT IN ('withdrawn', 'duplicate', 'foreign')
LEFT JOIN (
    SELECT assessmentId, min(status) AS status FROM report
    WHERE assessmentId = :assessmentId AND status = 'withdrawn' GROUP BY assessmentId
) AS w ON w.assessmentId = a.assessmentId
WHERE a.assessmentId = :assessmentId;
