#ifndef DIARIO_CZSTD_SHIM_H
#define DIARIO_CZSTD_SHIM_H

#include <zstd.h>
#include <zstd_errors.h>

#endif
