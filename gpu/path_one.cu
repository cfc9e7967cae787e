// path's recursion with one trial: a lane has as many columns as its registers hold
#include "path.cuh"

// two blocks per multiprocessor with half as many warps: one works while the other waits at a barrier
typedef path::how<4, 10, 2> halves;
typedef path::how<8, 10, 2> whole;

// all of them fit the smallest blocks
static_assert(path::shared_of<6, 16, false, whole>() + path::STATIC <= GPU_LEAST_SHARED);

path::shape path::shape_one(int nmax, size_t shared) {
    (void)shared;
    switch (nmax) {
    case 1:
    case 2: return make_shape<2, 16, 8, false, whole>();
    case 3: return make_shape<3, 16, 8, false, whole>();
    case 4: return make_shape<4, 16, 8, false, whole>();
    case 5: return make_shape<5, 16, 8, false, whole>();
    case 6: return make_shape<6, 16, 8, false, whole>();
    case 7: return make_shape<7, 12, 6, false, halves>();
    case 8: return make_shape<8, 12, 6, false, halves>();
    }
    return nmax <= 12 ? make_shape<12, 6, 4, false, whole>() : make_shape<16, 4, 2, false, whole>();
}
