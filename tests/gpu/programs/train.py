"""train.py eager|compile [STEPS] - a training step of a small network: two linear layers, a convolution, Adam."""
import sys

import torch

mode = sys.argv[1] if len(sys.argv) > 1 else "eager"
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 3
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 26 * 26, 64),
                          torch.nn.GELU(), torch.nn.Linear(64, 10)).cuda()
opt = torch.optim.Adam(net.parameters(), fused=False)
x = torch.randn(64, 1, 28, 28, device="cuda")
y = torch.randint(0, 10, (64,), device="cuda")


def loss_of(x, y):
    return torch.nn.functional.cross_entropy(net(x), y)


f = torch.compile(loss_of) if mode == "compile" else loss_of
for i in range(steps):
    opt.zero_grad()
    loss = f(x, y)
    loss.backward()
    opt.step()
torch.cuda.synchronize()
print("loss %.4f" % loss.item())
print("ok")
