/* pytensor-names: names of element types and devices by torch's numbers. */
#include "backends/cpython/pytensor.h"

#include "backends/cpython/pytensor-torch.h"
#include "banned.h"
#include "base/array.h"

/* c10::ScalarType by number (torch/headeronly/core/ScalarType.h). */
static const struct {
	const char *name;
	int size; /* bytes, as in torch's itemsize */
} dtypes[] = {
	{ "uint8", 1 },
	{ "int8", 1 },
	{ "int16", 2 },
	{ "int32", 4 },
	{ "int64", 8 },
	{ "float16", 2 },
	{ "float32", 4 },
	{ "float64", 8 },
	{ "complex32", 4 },
	{ "complex64", 8 },
	{ "complex128", 16 },
	{ "bool", 1 },
	{ "qint8", 1 },
	{ "quint8", 1 },
	{ "qint32", 4 },
	{ "bfloat16", 2 },
	{ "quint4x2", 1 },
	{ "quint2x4", 1 },
	{ "bits1x8", 1 },
	{ "bits2x4", 1 },
	{ "bits4x2", 1 },
	{ "bits8", 1 },
	{ "bits16", 2 },
	{ "float8_e5m2", 1 },
	{ "float8_e4m3fn", 1 },
	{ "float8_e5m2fnuz", 1 },
	{ "float8_e4m3fnuz", 1 },
	{ "uint16", 2 },
	{ "uint32", 4 },
	{ "uint64", 8 },
	{ "uint1", 1 },
	{ "uint2", 1 },
	{ "uint3", 1 },
	{ "uint4", 1 },
	{ "uint5", 1 },
	{ "uint6", 1 },
	{ "uint7", 1 },
	{ "int1", 1 },
	{ "int2", 1 },
	{ "int3", 1 },
	{ "int4", 1 },
	{ "int5", 1 },
	{ "int6", 1 },
	{ "int7", 1 },
	{ "float8_e8m0fnu", 1 },
	{ "float4_e2m1fn_x2", 1 },
};

/*
 * c10::DeviceType by number (torch/headeronly/core/DeviceType.h). is_counted: a machine may have
 * several devices of this type, so an index above 0 is valid.
 */
static const struct device {
	const char *name;
	bool is_counted;
} devices[] = {
	{ "cpu", false },    { "cuda", true },	  { "mkldnn", false },
	{ "opengl", false }, { "opencl", false }, { "ideep", false },
	{ "hip", false },    { "fpga", false },	  { "maia", true },
	{ "xla", true },     { "vulkan", false }, { "metal", false },
	{ "xpu", true },     { "mps", false },	  { "meta", false },
	{ "hpu", true },     { "ve", true },	  { "lazy", true },
	{ "ipu", true },     { "mtia", true },	  { "privateuseone", true },
};

const char *pytensor_dtype(const struct pytensor *tensor)
{
	return tensor->dtype ? tensor->dtype : tensor->dtype_text;
}

const char *pytensor_dtype_name(int number)
{
	if (number < 0 || (size_t)number >= ARRAY_LENGTH(dtypes))
		return NULL;
	return dtypes[number].name;
}

const char *pytensor_device_name(int number)
{
	if (number < 0 || (size_t)number >= ARRAY_LENGTH(devices))
		return NULL;
	return devices[number].name;
}

int torch_dtype_size(int number)
{
	return pytensor_dtype_name(number) ? dtypes[number].size : 0;
}

bool torch_device_is_counted(int number)
{
	return pytensor_device_name(number) && devices[number].is_counted;
}
