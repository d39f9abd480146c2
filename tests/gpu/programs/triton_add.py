"""triton_add.py [LAUNCHES] - a kernel that Triton compiles, launched some times."""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


n = 98432
a, b = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
out = torch.empty_like(a)
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
    add_kernel[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
torch.cuda.synchronize()
print("ok" if torch.allclose(out, a + b) else "wrong")
