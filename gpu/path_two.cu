// path's recursion with two trials
#include "path.cuh"

path::shape path::shape_two(int nmax) {
    switch (nmax) {
    case 1:
    case 2: return make_shape<2, 12, 6, true>();
    case 3: return make_shape<3, 12, 6, true>();
    case 4: return make_shape<4, 12, 6, true>();
    case 5: return make_shape<5, 12, 6, true>();
    case 6: return make_shape<6, 12, 6, true>();
    case 7: return make_shape<7, 10, 6, true>();
    case 8: return make_shape<8, 10, 6, true>();
    }
    return nmax <= 12 ? make_shape<12, 6, 4, true>() : make_shape<16, 4, 2, true>();
}
