"""graph_torch.py [REPLAYS] - a PyTorch CUDA graph of two operations, replayed."""
import sys

import torch

x = torch.ones(1024, 1024, device="cuda")
s = torch.cuda.Stream()
s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    y = (x @ x).relu()
torch.cuda.current_stream().wait_stream(s)
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    y = (x @ x).relu()
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
    g.replay()
torch.cuda.synchronize()
print("ok" if y[0, 0].item() == 1024 else "wrong")
