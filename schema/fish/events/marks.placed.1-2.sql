SELECT :assessmentId AS assessmentId, NULL AS photoId, NULL AS imageWidthPx,
    NULL AS imageHeightPx, :method AS method, :target AS target, :points AS points,
    :frame AS frame, :ellipse AS ellipse, :via AS via, :zoomMilli AS zoomMilli;
