-- The hash of the picture told who else has it, so it goes; the picture was never kept here. The
-- photo is named by the origin of its event, which read models know.
SELECT :assessmentId AS assessmentId, NULL AS photoId, NULL AS imageId, NULL AS imageSize,
    NULL AS imageType, NULL AS imageKey, :widthPx AS widthPx, :heightPx AS heightPx,
    :takenOn AS takenOn, :takenAt AS takenAt, :gravityMicroG AS gravityMicroG,
    :focalMpx AS focalMpx, NULL AS focalSource, NULL AS principal, NULL AS gate,
    :gateResult AS gateResult;
