SELECT :assessmentId AS assessmentId, :method AS method, :algorithmVersion AS algorithmVersion,
    :lengthUm AS lengthUm, :sigmaUm AS sigmaUm, :scaleNmPerPx AS scaleNmPerPx,
    :referenceId AS referenceId, :segment AS segment, :heightUm AS heightUm, :warnings AS warnings,
    :inputsSha256 AS inputsSha256;
