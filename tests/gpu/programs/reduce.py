"""reduce.py - NCCL with one rank: five all-reduces and a broadcast."""
import os
import tempfile

import torch
import torch.distributed as dist

os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
store = tempfile.mkdtemp() + "/store"
dist.init_process_group("nccl", init_method="file://" + store, rank=0, world_size=1)
x = torch.ones(1 << 16, device="cuda")
for i in range(5):
    dist.all_reduce(x)
dist.broadcast(x, 0)
torch.cuda.synchronize()
print("ok" if x.sum().item() == 1 << 16 else "wrong")
dist.destroy_process_group()
