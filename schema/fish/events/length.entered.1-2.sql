SELECT :assessmentId AS assessmentId, :lengthUm AS lengthUm;
