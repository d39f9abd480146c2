"""What Ctrl-C, Ctrl-Z, Ctrl-\\ and a hang-up do to recorder and its command, typed at an interactive shell.

	terminal.py RECORDER	prints ok and not_ok lines; run by launch.sh in its scratch folder
"""
import os
import pty
import re
import select
import signal
import sys
import time

recorder = sys.argv[1]


class Gone(Exception):
    pass


class Shell:
    """An interactive bash on a terminal of its own."""

    def __init__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1="PROMPT> ", TERM="dumb", HISTFILE="/dev/null")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.seen = ""
        self.expect("PROMPT> ")
        self.type("stty -echo\n")
        self.expect("PROMPT> ")

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, seconds=15):
        """What came up to and with the pattern."""
        end = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.seen)
            if match:
                said, self.seen = self.seen[:match.end()], self.seen[match.end():]
                return said
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise Gone(f"no {pattern!r} in {seconds} s, but {self.seen[-300:]!r}")
            try:
                self.seen += os.read(self.fd, 4096).decode(errors="replace")
            except OSError:
                raise Gone(f"the terminal ended before {pattern!r}, after {self.seen[-300:]!r}") from None

    def record(self, script, options=""):
        """Type a recording of a shell script that says READY."""
        os.system("rm -rf rec rec.old pid")
        self.type(f"{recorder} -o rec {options} -- sh -c '{script}'\n")
        self.expect("READY")

    def status(self):
        """The status of the last command; a stopped or killed one has brought the prompt."""
        self.expect("PROMPT> ")
        self.type("echo STATUS=$?\n")
        return int(re.search(r"STATUS=(\d+)", self.expect(r"STATUS=\d+")).group(1))

    def end(self):
        os.close(self.fd)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def is_alive(pid):
    """Also in state D: that is where a shell's vfork() waits for its child's exec."""
    return state_of(pid) not in ("gone", "Z", "X")


def becomes(what, seconds=10):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def equal(got, want, what=""):
    if got != want:
        raise Gone(f"{what} is {got!r}, want {want!r}")


LOOP = "while :; do sleep 0.1; done"


def ctrl_c_is_the_commands_to_answer(sh):
    sh.record('trap "echo ANSWERED; exit 7" INT; echo $$ > pid; echo READY; ' + LOOP)
    sh.type("\x03")
    sh.expect("ANSWERED")
    equal(sh.status(), 7, "status")


def ctrl_c_kills_a_command_that_does_not_answer(sh):
    sh.record("echo READY; exec sleep 100")
    sh.type("\x03")
    equal(sh.status(), 130, "status")


def ctrl_backslash_is_the_commands_to_answer(sh):
    sh.record("ulimit -c 0; echo READY; exec sleep 100")
    sh.type("\x1c")
    equal(sh.status(), 131, "status")


def the_second_ctrl_c_leaves_the_command_running(sh):
    sh.record('trap "" INT; echo $$ > pid; echo READY; ' + LOOP)
    pid = int(open("pid").read())
    sh.type("\x03")
    time.sleep(0.7)
    equal(is_alive(pid), True, "after one Ctrl-C, the command alive")
    sh.type("\x03")
    sh.status()
    alive = is_alive(pid)
    os.kill(pid, signal.SIGKILL)
    equal(alive, True, "after two, the command alive")


def ctrl_z_stops_both_and_fg_continues_both(sh):
    sh.record('echo $$ > pid; echo READY; read line; echo "FINISHED $line"; exit 5')
    pid = int(open("pid").read())
    parent = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
    sh.type("\x1a")
    sh.expect("Stopped")
    equal(becomes(lambda: state_of(pid) == "T"), True, "the command stopped")
    equal(state_of(parent), "T", "the state of recorder")
    sh.type("fg\n")
    equal(becomes(lambda: state_of(pid) in "SR" and state_of(parent) in "SR"), True, "both continued")
    sh.type("well\n")
    sh.expect("FINISHED well")
    equal(sh.status(), 5, "status")


def ctrl_z_twice(sh):
    sh.record('echo READY; read line; echo "FINISHED $line"')
    for _ in range(2):
        sh.type("\x1a")
        sh.expect("Stopped")
        sh.type("fg\n")
        time.sleep(0.3)
    sh.type("again\n")
    sh.expect("FINISHED again")
    equal(sh.status(), 0, "status")


def ctrl_z_does_not_stop_us_without_the_command(sh):
    sh.record('trap "" TSTP; echo READY; read line; echo "FINISHED $line"')
    sh.type("\x1a")
    sh.type("on\n")
    sh.expect("FINISHED on")
    equal(sh.status(), 0, "status")


def a_background_job_that_reads_is_stopped_and_fg_continues_it(sh):
    os.system("rm -rf rec rec.old")
    sh.type(f"{recorder} -q -o rec -- sh -c 'read line; echo \"FINISHED $line\"' &\n")
    sh.expect("PROMPT> ")
    time.sleep(0.5)
    for _ in range(20):
        sh.type("jobs\n")
        if "Stopped" in sh.expect("PROMPT> "):
            break
        time.sleep(0.3)
    sh.type("fg\n")
    time.sleep(0.3)
    sh.type("late\n")
    sh.expect("FINISHED late")
    equal(sh.status(), 0, "status")


def the_command_is_in_the_foreground_of_the_same_terminal(sh):
    look = "tty; ps -o tty=,pgid=,tpgid=,sid= -p $$ | tr -s \" \""
    os.system("rm -rf rec rec.old")
    sh.type(f"sh -c '{look}; echo END'\n")
    plain = sh.expect("END").split()
    sh.expect("PROMPT> ")
    sh.type(f"{recorder} -q -o rec -- sh -c '{look}; echo END'\n")
    recorded = sh.expect("END").split()
    equal(sh.status(), 0, "status")
    equal(recorded[:2], plain[:2], "terminal")
    equal(recorded[2], recorded[3], "the process group in the foreground")
    equal(recorded[4], plain[4], "session")


def an_interactive_shell_can_be_recorded(sh):
    os.system("rm -rf rec rec.old")
    sh.type(f"PS1='INNER> ' {recorder} -o rec -- bash --norc --noprofile -i\n")
    sh.expect("INNER> ")
    sh.type("sleep 100\n")
    time.sleep(0.5)
    sh.type("\x03")
    sh.expect("INNER> ")
    sh.type("sleep 100\n")
    time.sleep(0.5)
    sh.type("\x1a")
    sh.expect("Stopped")
    sh.type("fg\n")
    time.sleep(0.5)
    sh.type("\x03")
    sh.expect("INNER> ")
    sh.type("exit 3\n")
    equal(sh.status(), 3, "status")


def a_hang_up_ends_the_command_and_the_recording(sh):
    sh.record('trap "echo yes > hung; exit 0" HUP; echo $$ > pid; echo READY; ' + LOOP)
    pid = int(open("pid").read())
    parent = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
    sh.end()
    equal(becomes(lambda: os.path.exists("hung")), True, "the command told")
    equal(becomes(lambda: state_of(pid) in ("gone", "Z")), True, "the command ended")
    equal(becomes(lambda: state_of(parent) in ("gone", "Z")), True, "recorder ended")
    return "ended"


def main():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for test in (
            ctrl_c_is_the_commands_to_answer,
            ctrl_c_kills_a_command_that_does_not_answer,
            ctrl_backslash_is_the_commands_to_answer,
            the_second_ctrl_c_leaves_the_command_running,
            ctrl_z_stops_both_and_fg_continues_both,
            ctrl_z_twice,
            ctrl_z_does_not_stop_us_without_the_command,
            a_background_job_that_reads_is_stopped_and_fg_continues_it,
            the_command_is_in_the_foreground_of_the_same_terminal,
            an_interactive_shell_can_be_recorded,
            a_hang_up_ends_the_command_and_the_recording):
        name = test.__name__.replace("_", " ")
        shell = None
        ended = None
        try:
            shell = Shell()
            ended = test(shell)
            print(f"ok {name}")
        except (Gone, OSError, AttributeError, ValueError) as why:
            print(f"not_ok {name}: {why}".replace("\n", " "))
        finally:
            sys.stdout.flush()
            if shell and ended is None:
                shell.end()


main()
