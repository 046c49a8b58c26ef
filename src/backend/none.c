/* none.c - in place of cuda/ in a build without CUDA. */

#include "backend/backend.h"

const struct cs_backend *const cs_backend_cuda = NULL;
