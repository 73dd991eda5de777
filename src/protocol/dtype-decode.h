/*
 * dtype-decode: so many elements as doubles, or as floats, where these hold
 * them exactly. Loops without branches that
 * compilers turn into instructions on several at once: dtype-decode.c is
 * compiled with more of that than all else.
 */
#ifndef PROTOCOL_DTYPE_DECODE_H
#define PROTOCOL_DTYPE_DECODE_H

#include <stddef.h>
#include <stdint.h>

void narrow_bool(const uint8_t *bytes, size_t count, float *out);
void narrow_int8(const uint8_t *bytes, size_t count, float *out);
void narrow_int16(const uint8_t *bytes, size_t count, float *out);
void decode_int32(const uint8_t *bytes, size_t count, double *out);
void decode_int64(const uint8_t *bytes, size_t count, double *out);
void narrow_uint8(const uint8_t *bytes, size_t count, float *out);
void narrow_uint16(const uint8_t *bytes, size_t count, float *out);
void decode_uint32(const uint8_t *bytes, size_t count, double *out);
void decode_uint64(const uint8_t *bytes, size_t count, double *out);
/* int64, of which the least is NaN. */
void decode_time(const uint8_t *bytes, size_t count, double *out);
void narrow_float16(const uint8_t *bytes, size_t count, float *out);
void narrow_bfloat16(const uint8_t *bytes, size_t count, float *out);
void narrow_float32(const uint8_t *bytes, size_t count, float *out);
void decode_float64(const uint8_t *bytes, size_t count, double *out);
/* x87's 80 bits in 16 bytes. */
void decode_longdouble(const uint8_t *bytes, size_t count, double *out);
void narrow_e5m2(const uint8_t *bytes, size_t count, float *out);
void narrow_e4m3fn(const uint8_t *bytes, size_t count, float *out);
void narrow_e5m2fnuz(const uint8_t *bytes, size_t count, float *out);
void narrow_e4m3fnuz(const uint8_t *bytes, size_t count, float *out);
void narrow_e8m0fnu(const uint8_t *bytes, size_t count, float *out);
/* Of ml_dtypes: a byte each, whatever stands above their bits. */
void narrow_e3m4(const uint8_t *bytes, size_t count, float *out);
void narrow_e4m3(const uint8_t *bytes, size_t count, float *out);
void narrow_e4m3b11fnuz(const uint8_t *bytes, size_t count, float *out);
void narrow_e2m3fn(const uint8_t *bytes, size_t count, float *out);
void narrow_e3m2fn(const uint8_t *bytes, size_t count, float *out);
void narrow_e2m1fn(const uint8_t *bytes, size_t count, float *out);
void narrow_int1(const uint8_t *bytes, size_t count, float *out);
void narrow_int2(const uint8_t *bytes, size_t count, float *out);
void narrow_int4(const uint8_t *bytes, size_t count, float *out);
void narrow_uint1(const uint8_t *bytes, size_t count, float *out);
void narrow_uint2(const uint8_t *bytes, size_t count, float *out);
void narrow_uint4(const uint8_t *bytes, size_t count, float *out);
/* What was narrowed. */
void decode_floats(const float *values, size_t count, double *out);
/* Two each. */
void narrow_complex32(const uint8_t *bytes, size_t count, float *out);
void narrow_bcomplex32(const uint8_t *bytes, size_t count, float *out);
void narrow_complex64(const uint8_t *bytes, size_t count, float *out);
void decode_complex128(const uint8_t *bytes, size_t count, double *out);
void decode_clongdouble(const uint8_t *bytes, size_t count, double *out);

#endif
