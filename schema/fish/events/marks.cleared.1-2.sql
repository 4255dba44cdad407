SELECT :assessmentId AS assessmentId, NULL AS photoId, :target AS target;
