-- Version 1 had one photo at a time, so the one in use is meant.
SELECT :assessmentId AS assessmentId, NULL AS photoId, :reason AS reason;
