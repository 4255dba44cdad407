SELECT :assessmentId AS assessmentId, :method AS method, :algorithmVersion AS algorithmVersion,
    :lengthUm AS lengthUm, :sigmaUm AS sigmaUm, :scaleNmPerPx AS scaleNmPerPx,
    :referenceId AS referenceId, NULL AS segment, NULL AS heightUm, NULL AS warnings,
    :inputsSha256 AS inputsSha256;
