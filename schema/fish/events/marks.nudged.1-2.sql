SELECT :assessmentId AS assessmentId, NULL AS photoId, :target AS target, :side AS side,
    :deltaMpx AS deltaMpx;
