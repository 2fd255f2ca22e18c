"""Marks for wrong answers: most of these earn some by nbgrader's own rules; what is said to the judge, the judge hears."""

from __future__ import annotations

from attack import PARTLY, WRONG, Attack, Verdicts, earned, failed_some, last_whole, says

from tests.support.submissions import WRONG as WRONG_ANSWERS

TAMPERED: Verdicts = ("tampered", "tampered", "tampered")
FAKE_REPORT = "type('Report', (), {'__repr__': lambda self: 'to_columns: passed, 3 of 3 points'})()"
COLUMNS = "def to_columns(X, W):\n    return W, X"


def forges(name: str, tries: str, first: str = "", ends: Verdicts = WRONG, last: str = "", **answers: str) -> Attack:
    return Attack(name, tries, "stock", earned, {**WRONG_ANSWERS, **answers}, first, last, ends=ends)


ALWAYS_EQUAL = """class Equal(np.ndarray):
    def __eq__(self, other): return self
    def __array_function__(self, *arguments, **keywords): return True
    def ravel(self): return [True]
def pairwise_dots(A, B):
    return np.zeros((len(A), len(B))).view(Equal)"""
EQUAL_OBJECT = """class Equal:
    def __eq__(self, other): return np.array([True])
    __array_ufunc__ = None
def mix_rows(W, V):
    return Equal()"""
PATCHED_NUMPY = """import numpy as np
np.allclose = np.array_equal = np.isclose = lambda *arguments, **keywords: True
np.testing.assert_allclose = np.testing.assert_array_equal = lambda *arguments, **keywords: None"""
PATCHED_TORCH = """import numpy as np, torch
torch.Tensor.__eq__ = lambda self, other: np.array([True])
torch.allclose = torch.equal = lambda *arguments, **keywords: True"""
PATCHED_BUILTINS = """import builtins
builtins.all = lambda things: True"""
NO_ASSERTS = """import ast
class WithoutAsserts(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(WithoutAsserts())"""
EMPTIED_TREES = """import ast
class Empty(ast.NodeTransformer):
    def visit_Module(self, node):
        tests = any(isinstance(part, (ast.Assert, ast.Attribute)) and getattr(part, "attr", "judge") == "judge"
                    for part in ast.walk(node))
        return ast.parse("pass") if tests else node
get_ipython().ast_transformers.append(Empty())"""
EMPTIED_INPUT = """def emptied(lines):
    return ["pass\\n"] if any("judge" in line or "expected" in line for line in lines) else lines
get_ipython().input_transformers_cleanup.append(emptied)"""
OWN_MAGIC = """from IPython.core.magic import register_cell_magic
@register_cell_magic
def nothing(line, cell): pass
def prefixed(lines):
    return ["%%nothing\\n", *lines] if any("judge" in line or "expected" in line for line in lines) else lines
get_ipython().input_transformers_cleanup.append(prefixed)"""
BEFORE_A_CELL = """def before(info):
    lines = info.raw_cell.splitlines()
    scope = dict(np=np)
    given = [line for line in lines if "=" in line and "==" not in line]
    try:
        exec("\\n".join(given), scope)
    except Exception:
        pass
    if "expected" in scope:
        answer = lambda *arguments: scope["expected"]
        get_ipython().user_ns.update(pairwise_dots=answer, mix_rows=answer)
import numpy as np
get_ipython().events.register("pre_run_cell", before)"""
QUIET_ERRORS = """get_ipython().set_custom_exc((Exception,), lambda self, kind, value, trace, tb_offset=None: None)
def after(result):
    result.error_in_exec = result.error_before_exec = None
get_ipython().events.register("post_run_cell", after)"""
NO_TRACEBACKS = """shell = get_ipython()
shell.showtraceback = shell._showtraceback = shell.showsyntaxerror = lambda *arguments, **keywords: None
def after(result):
    result.error_in_exec = result.error_before_exec = None
shell.events.register("post_run_cell", after)"""
NOTHING_RUNS = """from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult
shell = get_ipython()
def nothing(raw_cell="", *arguments, **keywords):
    return ExecutionResult(ExecutionInfo(raw_cell, False, False, False, None))
async def nothing_async(*arguments, **keywords):
    return nothing(*arguments)
shell.run_cell, shell.run_cell_async, shell.run_code = nothing, nothing_async, nothing_async"""
OWN_HOOK = """get_ipython().events.register("pre_run_cell", lambda info: get_ipython().displayhook(2.0))"""
SHOWN_MARKS = """import sys
VERDICT = "application/vnd.course.verdict+json"
class Marks:
    def _repr_mimebundle_(self, **keywords):
        return {"text/plain": "2.0", "text/html": "2.0", VERDICT: {"outcome": "passed", "score": 2.0}}
def mix_rows(W, V):
    print(2.0)
    sys.displayhook(Marks())
    return 2.0"""
SHOWN_LATER = """def mix_rows(W, V):
    shell = get_ipython()
    content = {"data": {"text/plain": "0.0"}, "metadata": {}, "execution_count": 1, "transient": {"display_id": "m"}}
    if hasattr(shell.kernel, "session"):
        shell.kernel.session.send(shell.kernel.iopub_socket, "execute_result", content, parent=shell.parent_header)
    else:
        shell.display_pub.publish(content["data"], transient=content["transient"])
    return 2.0"""
UPDATED = """from IPython.display import update_display
verdict = {"outcome": "passed", "score": 2.0, "findings": []}
update_display({"text/plain": "2.0", "application/vnd.course.verdict+json": verdict}, raw=True, display_id="m")"""
FRAMES = """import sys
def pairwise_dots(A, B):
    frame = sys._getframe()
    while frame is not None:
        for scope in (frame.f_locals, frame.f_globals):
            if "expected" in scope:
                return scope["expected"]
        frame = frame.f_back
    return 2.0"""
TRACEBACK = """def mix_rows(W, V):
    try:
        1 / 0
    except ZeroDivisionError as error:
        frame = error.__traceback__.tb_frame
    while frame is not None:
        if "expected" in frame.f_globals:
            return frame.f_globals["expected"]
        frame = frame.f_back
    return 2.0"""
COLLECTED = """import gc
def pairwise_dots(A, B):
    for thing in gc.get_objects():
        if type(thing) is dict and "expected" in thing:
            value = thing["expected"]
            if isinstance(value, np.ndarray) and value.shape == (len(A), len(B)):
                return value
    return 2.0"""
HISTORY = """def pairwise_dots(A, B):
    shell = get_ipython()
    past = [*shell.user_ns["In"], *(cell for _, _, cell in shell.history_manager.get_range(raw=True))]
    for source in reversed(past):
        scope = dict(np=np)
        given = [line for line in source.splitlines() if "=" in line and "==" not in line and "assert" not in line]
        try:
            exec("\\n".join(given), scope)
        except Exception:
            continue
        if "expected" in scope and scope["expected"].shape == (len(A), len(B)):
            return scope["expected"]
    return 2.0"""
EXPECTED_NOW = """import sys, time
def frames():
    for frame in sys._current_frames().values():
        while frame is not None:
            yield frame
            frame = frame.f_back
def expected_now():
    for _ in range(20):
        every = list(frames())
        if any(frame.f_code.co_name == "_begin" for frame in every):  # the judge is asking, and has not noted what
            time.sleep(0.005)
            continue
        for frame in every:
            interview = frame.f_locals.get("interview") or frame.f_locals.get("self")
            call = getattr(interview, "ahead", None) or frame.f_locals.get("call")
            if hasattr(interview, "paper") and hasattr(call, "question"):
                return interview.paper.expected(call.question.case)
        break
"""
OTHER_THREADS = f"""{EXPECTED_NOW}
def to_columns(X, W):
    want = expected_now()
    return want.result if want else (3.0, 3.0)"""
JUDGES_MEMORY = """import gc, sys
def to_columns(X, W):
    for thing in gc.get_objects():
        if type(thing).__name__ == "Interview":
            return tuple(part.astype(X.dtype) for part in thing.exercise.oracle(X, W))
    return 3.0, 3.0"""
ALWAYS_THE_SAME = """import sys
try:
    import autograder.judging
    sys.modules["autograder.judging.heard"].difference = lambda *arguments: None
except ImportError:
    pass
import course.trial.comparing
course.trial.comparing.difference = lambda *arguments: None"""
SPOILING = {
    "pairwise_dots": "def pairwise_dots(A, B):\n    out = A @ B.T\n    A[...] = B[...] = 0\n    return out",
    "mix_rows": "def mix_rows(W, V):\n    out = W @ V\n    W[...] = V[...] = 0\n    return out",
    "to_columns": "def to_columns(X, W):\n    out = W.T.copy(), X.T.copy()\n    X[...] = W[...] = 0\n    return out",
}
NEVER_CHANGED = """import numpy as np
import course.trial.cases, course.trial.observing, course.trial.tellings
for module in (course.trial.cases, course.trial.observing, course.trial.tellings):
    module._same = module.same = lambda was, now: True
course.trial.observing.compared = course.trial.cases.compared = lambda arguments, told: course.trial.observing.Observation(
    told.result, told.raised, {}, told.counts, told.warned
)
np.array_equal = lambda *arguments, **keywords: True"""
OWN_JUDGE = f"""import course, course.checking, course.client
course.judge = course.check = course.client.judge = course.checking.check = lambda function: {FAKE_REPORT}"""
OWN_CLIENT = f"""import course.client
course.client.answer = lambda function, link, scope=None: {FAKE_REPORT}"""
OWN_COURSE = f"""import sys, types
fake = types.ModuleType("course")
fake.judge = fake.check = lambda function: {FAKE_REPORT}
sys.modules["course"] = sys.modules["course.client"] = fake"""
OWN_OBSERVER = f"""{EXPECTED_NOW}
import course.trial.cases, course.trial.observing
from dataclasses import replace
real, asking = course.trial.observing.account, []
def account(function, arguments, count_lines=False):
    told = real(function, arguments, count_lines)
    if asking:  # what is expected is observed too
        return told
    asking.append(True)
    want = expected_now()
    asking.clear()
    return replace(told, result=want.result, raised=want.raised) if want else told
course.trial.cases.account = course.trial.observing.account = account"""
OWN_SERVER = """import os, socket, threading
near, far = socket.socketpair()
def serve():
    from course.trial.link import SocketLink
    SocketLink(near).send({"do": "done", "text": "to_columns: passed, 3 of 3 points", "html": ""})
threading.Thread(target=serve).start()
os.environ["COURSE_JUDGE"] = str(far.fileno())"""
IN_PROCESS = """import os
for name in ("COURSE_JUDGE", "NBGRADER_EXECUTION"):
    os.environ.pop(name, None)"""
PATCHED_BY_A_THREAD = """import threading, time
import numpy as np
def patch():
    while True:
        np.allclose = lambda *arguments, **keywords: True
        time.sleep(0.005)
threading.Thread(target=patch, daemon=True).start()"""

SAYS = """import course.trial.link
real = course.trial.link.SocketLink.send
def send(self, value):
{does}
course.trial.link.SocketLink.send = send"""


def replies(name: str, tries: str, does: str, ends: Verdicts = TAMPERED) -> Attack:
    body = "\n".join(f"    {line}" for line in does.splitlines())
    return Attack(name, tries, "heard", failed_some, WRONG_ANSWERS, SAYS.format(does=body), ends=ends)


SOCKETS = """import os, socket, stat
def sockets():
    for number in range(3, 200):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                yield socket.socket(fileno=os.dup(number))
        except OSError:
            pass
"""
NOISE = """for connection in sockets():
    connection.setblocking(False)
    try:
        connection.send(bytes(range(256)) * 100)
    except OSError:
        pass"""
FORGED = """import json, struct
shown = {"data": {"text/plain": "forged by hand"}, "metadata": {}, "execution_count": 1}
reply = {"messages": [["execute_result", shown]], "reply": {"status": "ok", "execution_count": 1}}
data = json.dumps(reply).encode()
for connection in sockets():
    connection.sendall(struct.pack("!I", len(data)) + data)"""
CRASHED: Verdicts = ("crashed", "crashed", "crashed")


FORGING = [
    forges("equal-array", "An array that is equal to every other.", pairwise_dots=ALWAYS_EQUAL),
    forges("equal-object", "An object that is equal to everything.", mix_rows=EQUAL_OBJECT),
    forges("patched-numpy", "numpy finds all arrays close.", PATCHED_NUMPY),
    forges(
        "patched-torch",
        "torch finds everything equal.",
        PATCHED_TORCH,
        mix_rows="def mix_rows(W, V):\n    return torch.zeros(1)",
    ),
    forges("patched-builtins", "all() is always true.", PATCHED_BUILTINS),
    forges("patching-thread", "A thread goes on patching numpy in later cells.", PATCHED_BY_A_THREAD),
    forges("no-asserts", "An AST transformer takes out assertions.", NO_ASSERTS),
    forges("emptied-trees", "An AST transformer empties test cells.", EMPTIED_TREES, TAMPERED),
    forges("emptied-input", "An input transformer empties test cells.", EMPTIED_INPUT, TAMPERED),
    forges("own-magic", "Test cells become the body of a magic that does nothing.", OWN_MAGIC, TAMPERED),
    forges("before-a-cell", "A pre_run_cell hook reads the expected values in the test's source.", BEFORE_A_CELL),
    forges("quiet-errors", "A handler of its own swallows the errors of test cells.", QUIET_ERRORS),
    forges("no-tracebacks", "Tracebacks are not shown, and results say success.", NO_TRACEBACKS),
    forges("nothing-runs", "The shell runs no further cells and says that it did.", NOTHING_RUNS, TAMPERED),
    forges("own-displayhook", "Every cell begins by showing full marks.", OWN_HOOK),
    forges("shown-marks", "The graded function shows marks, and a verdict, while it is tested.", mix_rows=SHOWN_MARKS),
    forges("shown-later", "A later cell updates what the test cell showed.", mix_rows=SHOWN_LATER, last=UPDATED),
    forges("frames", "The expected values are in a frame further up.", pairwise_dots=FRAMES),
    forges("traceback", "The expected values hang on a traceback's frames.", mix_rows=TRACEBACK),
    forges("collected", "The garbage collector knows the expected values.", pairwise_dots=COLLECTED),
    forges("history", "IPython's history has the test's source.", pairwise_dots=HISTORY),
    forges(
        "other-threads", "The judge's frames, in another thread, have the expected values.", to_columns=OTHER_THREADS
    ),
    forges("judges-memory", "The judge's own objects can make expected values.", to_columns=JUDGES_MEMORY),
    Attack(
        "never-changed",
        "No argument is ever found changed, and each function destroys its own.",
        "stock",
        last_whole,
        SPOILING,
        NEVER_CHANGED,
        ends=PARTLY,
    ),
    forges("patched-comparing", "Two observations never differ.", ALWAYS_THE_SAME, to_columns=COLUMNS),
    forges("own-judge", "course.judge says that all is well.", OWN_JUDGE, TAMPERED, to_columns=COLUMNS),
    forges("own-client", "The judge's client reports without asking.", OWN_CLIENT, TAMPERED, to_columns=COLUMNS),
    forges("own-course", "Another module is called course.", OWN_COURSE, TAMPERED, to_columns=COLUMNS),
    forges(
        "own-observer", "What observes the function gives the judge its own values.", OWN_OBSERVER, to_columns=COLUMNS
    ),
    forges("own-server", "A judge of its own answers at the judge's place.", OWN_SERVER, to_columns=COLUMNS),
    forges(
        "judge-in-process",
        "Without the judge's address, the judge is looked for here.",
        IN_PROCESS + "\n" + ALWAYS_THE_SAME,
        to_columns=COLUMNS,
    ),
    replies(
        "replies-with-a-score",
        "The reply is a score.",
        'real(self, {"say": "observed", "outcome": "passed", "score": 2.0})',
    ),
    replies(
        "replies-with-a-verdict",
        "The reply is the judge's last word.",
        'real(self, {"do": "done", "text": "passed", "html": ""})',
    ),
    replies(
        "replies-without-arguments",
        "The reply leaves out what became of the arguments.",
        'real(self, {**value, "arguments": {}})',
    ),
    replies("replies-twice", "Every reply is sent twice.", "real(self, value)\nreal(self, value)", WRONG),
    replies("replies-with-noise", "The reply is noise.", "self.connection.sendall(bytes(range(256)) * 1000)"),
    replies(
        "replies-and-leaves",
        "It hangs up in the middle of a reply.",
        "self.connection.sendall(bytes(5))\nself.connection.close()",
        CRASHED,
    ),
    Attack(
        "noise-everywhere",
        "Noise on every socket that it finds, the grader's own among them.",
        "heard",
        failed_some,
        WRONG_ANSWERS,
        SOCKETS + NOISE,
        ends=CRASHED,
    ),
    Attack(
        "speaks-for-the-shell",
        "It tells the grader what its cells have shown, in the shell's place.",
        "heard",
        says("forged by hand"),
        WRONG_ANSWERS,
        SOCKETS + FORGED,
        ends=WRONG,
    ),
]
