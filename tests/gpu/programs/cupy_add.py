"""cupy_add.py - CuPy: an element-wise kernel, a raw kernel by NVRTC, a product by cuBLAS."""
import cupy as cp

a = cp.arange(100000, dtype=cp.float32)
b = a * 2 + 1
k = cp.RawKernel(r"""
extern "C" __global__ void twice(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2;
}
""", "twice")
for i in range(4):
    k((400,), (256,), (b, cp.int32(100000)))
m = cp.ones((256, 256), dtype=cp.float32)
s = float((m @ m).sum())
cp.cuda.Device().synchronize()
print("ok" if s == 256.0 ** 3 and float(b[1]) == 48.0 else "wrong")
