# Written by `scripts/record.py stubs`.
from tapeflow.math.special.special_functions import bessel_i0 as bessel_i0
from tapeflow.math.special.special_functions import bessel_i0e as bessel_i0e
from tapeflow.math.special.special_functions import bessel_i1 as bessel_i1
from tapeflow.math.special.special_functions import bessel_i1e as bessel_i1e
from tapeflow.math.special.special_functions import bessel_j0 as bessel_j0
from tapeflow.math.special.special_functions import bessel_j1 as bessel_j1
from tapeflow.math.special.special_functions import bessel_k0 as bessel_k0
from tapeflow.math.special.special_functions import bessel_k0e as bessel_k0e
from tapeflow.math.special.special_functions import bessel_k1 as bessel_k1
from tapeflow.math.special.special_functions import bessel_k1e as bessel_k1e
from tapeflow.math.special.special_functions import bessel_y0 as bessel_y0
from tapeflow.math.special.special_functions import bessel_y1 as bessel_y1
from tapeflow.math.special.special_functions import dawsn as dawsn
from tapeflow.math.special.special_functions import expint as expint
from tapeflow.math.special.special_functions import fresnel_cos as fresnel_cos
from tapeflow.math.special.special_functions import fresnel_sin as fresnel_sin
from tapeflow.math.special.special_functions import spence as spence
