// path with the cycles through every row and column (path/loo.c has the mathematics).
#pragma once

#include "slabs.cuh"

size_t path_loo_memory(ks_gpu *gpu, const ks_path_job *job);
ks_plugin_status path_loo(ks_gpu *gpu, const ks_path_job *job, const ks_plugin_progress *progress);

// in path.cu
ks_plugin_status path_watch(ks_gpu *gpu, int groups, double from, double to,
                            const ks_plugin_progress *progress);
ks_plugin_status path_begin(ks_gpu *gpu, const ks_path_job *job, slabs s, double **px, double **py,
                            void **held);
