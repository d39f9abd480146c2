"""gpulanes.py < `trace-cmd report -t -R`: what ran on a device stands when it ran: each stream on a CPU of its own, there a begin,
of its thread's, at its start, and a gpu_end, of the idle task, at its end, by turns."""
import re
import sys

line = re.compile(r"\s*.*-(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(gpu_\w+): +(.*)$")
streams, opened, ends = {}, {}, 0

for m in filter(None, map(line.match, sys.stdin)):
    tid, cpu, time, event = int(m[1]), m[2], int(m[3] + m[4]), m[5]
    field = {k: int(v, 0) for k, v in re.findall(r"(\w+)=(0x[0-9a-f]+|\d+)(?= |$)", m[6])}
    stream = field["tgid"], field["device"], field["stream_id"]
    if streams.setdefault(cpu, stream) != stream:
        sys.exit("two streams on CPU %s: %s" % (cpu, m[0]))
    if event == "gpu_end":
        began = opened.pop(cpu, None)
        ends += 1
        if not began or tid or (began["end"], began["corr"]) != (time, field["corr"]):
            sys.exit("no end of what is open: " + m[0])
    else:
        if cpu in opened or not tid or time != field["start"]:
            sys.exit("begins before another ended, or at another time: " + m[0])
        opened[cpu] = field
if opened or not ends or len(set(streams.values())) != len(streams):
    sys.exit("open: %d, ends: %d, streams: %s" % (len(opened), ends, streams))
