// path's recursion with two trials
#include "path.cuh"

typedef path::how<8, 8, 3> usual;
// fewer rows ahead, for GPUs with less shared memory
typedef path::how<8, 6, 2> small;

template <int N, int C, int NARROW> static path::shape fitting(size_t shared) {
    using namespace path;
    static_assert(shared_of<N, C, true, small>() + STATIC <= GPU_LEAST_SHARED);
    if constexpr (shared_of<N, C, true, usual>() + STATIC > GPU_LEAST_SHARED)
        if (shared_of<N, C, true, usual>() + STATIC > shared) return make_shape<N, C, NARROW, true, small>();
    return make_shape<N, C, NARROW, true, usual>();
}

path::shape path::shape_two(int nmax, size_t shared) {
    switch (nmax) {
    case 1:
    case 2: return fitting<2, 12, 6>(shared);
    case 3: return fitting<3, 12, 6>(shared);
    case 4: return fitting<4, 12, 6>(shared);
    case 5: return fitting<5, 12, 6>(shared);
    case 6: return fitting<6, 12, 6>(shared);
    case 7: return fitting<7, 10, 6>(shared);
    case 8: return fitting<8, 10, 6>(shared);
    }
    return nmax <= 12 ? fitting<12, 6, 4>(shared) : fitting<16, 4, 2>(shared);
}
