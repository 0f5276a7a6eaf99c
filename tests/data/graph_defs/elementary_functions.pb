
;
xPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ

ExpExpx*
T0

TanhTanhx*
T0

SigmoidSigmoidx*
T0

AbsAbsx*
T0

SqrtSqrtAbs*
T0

Abs_1Absx*
T0

Log1pLog1pAbs_1*
T0

ErfErfx*
T0

SinSinx*
T0

initNoOp"ª