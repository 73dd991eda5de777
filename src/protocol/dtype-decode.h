/*
 * dtype-decode: functions that decode count elements to floats (narrow_…, if floats hold all values
 * of the type exactly) or to doubles (decode_…). The loops have no branches, so that compilers
 * vectorise them: dtype-decode.c is compiled with more optimisation than the other files.
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
/* datetime64 and timedelta64 are int64; INT64_MIN (NaT) becomes NaN. */
void decode_time(const uint8_t *bytes, size_t count, double *out);
void narrow_float16(const uint8_t *bytes, size_t count, float *out);
void narrow_bfloat16(const uint8_t *bytes, size_t count, float *out);
void narrow_float32(const uint8_t *bytes, size_t count, float *out);
void decode_float64(const uint8_t *bytes, size_t count, double *out);
/* x87's 80-bit float in 16 bytes. */
void decode_longdouble(const uint8_t *bytes, size_t count, double *out);
void narrow_e5m2(const uint8_t *bytes, size_t count, float *out);
void narrow_e4m3fn(const uint8_t *bytes, size_t count, float *out);
void narrow_e5m2fnuz(const uint8_t *bytes, size_t count, float *out);
void narrow_e4m3fnuz(const uint8_t *bytes, size_t count, float *out);
void narrow_e8m0fnu(const uint8_t *bytes, size_t count, float *out);
/* Types of ml_dtypes: one byte per element; the unused upper bits are ignored. */
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
/* Converts floats, from a narrow_… function, to doubles. */
void decode_floats(const float *values, size_t count, double *out);
/* Complex types: two numbers for each element. */
void narrow_complex32(const uint8_t *bytes, size_t count, float *out);
void narrow_bcomplex32(const uint8_t *bytes, size_t count, float *out);
void narrow_complex64(const uint8_t *bytes, size_t count, float *out);
void decode_complex128(const uint8_t *bytes, size_t count, double *out);
void decode_clongdouble(const uint8_t *bytes, size_t count, double *out);

#endif
