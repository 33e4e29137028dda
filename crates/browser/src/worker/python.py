# Runs code for one session in Python. Commands arrive on descriptor 3, messages are written to 4, as one line
# of JSON each. The argument is a folder in which packages are found.
import ast
import asyncio
import base64
import inspect
import json
import os
import sys
import traceback

sys.path.append(sys.argv[1])
from playwright.async_api import async_playwright

NAME = "<code>"
# The server cuts longer texts anyway.
MOST = 1024 * 1024


def say(**message):
    rest = memoryview((json.dumps(message) + "\n").encode())
    while rest:
        rest = rest[os.write(4, rest) :]


class Output:
    """A text stream that sends every write as a message."""

    encoding = "utf-8"
    errors = "replace"
    closed = False

    def __init__(self, stream):
        self.stream = stream
        self.buffer = self

    def write(self, text):
        if isinstance(text, (bytes, bytearray, memoryview)):
            text = bytes(text).decode("utf-8", "replace")
        if text:
            say(said="output", stream=self.stream, text=text[:MOST].encode("utf-8", "replace").decode())
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def isatty(self):
        return False

    def writable(self):
        return True

    def fileno(self):
        return 1 if self.stream == "stdout" else 2


def text(value):
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


class Stored(ast.NodeVisitor):
    """Names that the statements bind, except those inside nested functions."""

    def __init__(self):
        self.names = set()

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.names.add(node.id)

    def visit_alias(self, node):
        self.names.add((node.asname or node.name).split(".")[0])

    def visit_FunctionDef(self, node):
        self.names.add(node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node):
        pass

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda


class Returns(ast.NodeVisitor):
    """Finds a `return` outside of functions."""

    found = False

    def visit_Return(self, node):
        self.found = True

    def visit_FunctionDef(self, node):
        pass

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef


async def evaluate(code, names):
    tree = ast.parse(code, NAME)
    returns = Returns()
    returns.visit(tree)
    if returns.found:
        stored = Stored()
        stored.visit(tree)
        body = ([ast.Global(sorted(stored.names))] if stored.names else []) + tree.body
        main = ast.parse("async def __main__(): pass", NAME)
        main.body[0].body = body
        exec(compile(ast.fix_missing_locations(main), NAME, "exec"), names)
        return await names.pop("__main__")()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    value = None
    for part, mode in ((tree, "exec"), (last and ast.Expression(last.value), "eval")):
        if part is None:
            continue
        compiled = compile(part, NAME, mode, flags=flags)
        value = eval(compiled, names)
        if compiled.co_flags & inspect.CO_COROUTINE:
            value = await value
    return value


def reason(error):
    """Returns the traceback, starting at the code."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != NAME:
        frames = frames.tb_next
    shown = traceback.TracebackException(type(error), error, frames)
    for inner in shown.stack:
        inner._line = ""
    return "".join(shown.format()).strip()


async def run(code, names):
    global is_running
    is_running = True
    try:
        result = text(await evaluate(code, names))
        return {"result": result and result[:MOST]}
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            sys.stderr.write(error.code + "\n")
        say(said="exit", code=status)
        os._exit(status & 0xFF)
    except BaseException as error:
        return {"error": reason(error)[:MOST]}
    finally:
        is_running = False


is_running = False


def listeners(emitter):
    return len(emitter._impl_obj.listeners("dialog"))


def on_dialog(dialog):
    """Dismisses a dialog that the code caused and has no listener for.

    Without a listener Playwright dismisses every dialog, also those that a viewer should answer.
    """
    page = dialog.page
    is_handled = page is not None and (listeners(page) > 0 or listeners(page.context) > 1)
    if is_running and not is_handled:
        asyncio.ensure_future(dismiss(dialog))


async def dismiss(dialog):
    try:
        await (dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())
    except Exception:
        pass  # A viewer has answered it.


targets = {}
crashed = set()


async def target_of(page):
    if page not in targets:
        cdp = await page.context.new_cdp_session(page)
        targets[page] = (await cdp.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
        page.on("crash", crashed.add)
        await cdp.detach()
    return targets[page]


def usable(page):
    return hasattr(page, "is_closed") and not page.is_closed() and page not in crashed


async def choose(target, names):
    """Sets `page` to the page of a target. Retries, because a newly opened page may not be known yet."""
    for _ in range(100):
        known = [page for context in connection.contexts for page in context.pages]
        for page in [names.get("page"), *known]:
            if not usable(page):
                continue
            try:
                found = await target_of(page)
            except Exception:
                continue
            if found == target:
                names.update(page=page, context=page.context)
                return
        await asyncio.sleep(0.02)


def receive(command):
    """Writes a part of a file of the session."""
    try:
        os.makedirs(os.path.dirname(command["file"]), exist_ok=True)
        with open(command["file"], "ab" if command["append"] else "wb") as file:
            file.write(base64.b64decode(command["data"]))
    except OSError as error:
        sys.stderr.write(f"cannot write {command['file']}: {error}\n")


# The browser and how to reach it. Code may replace `browser`, and close it, which only ends the connection.
connection = reach = None


async def connect(connect_over_cdp, names):
    global connection
    try:
        connection = await connect_over_cdp(reach["connect"], artifacts_dir=reach["downloads"])
    except TypeError:
        # An older Playwright: code learns of downloads, but does not find their content.
        connection = await connect_over_cdp(reach["connect"])
    names.update(browser=connection, context=connection.contexts[0])
    connection.contexts[0].on("dialog", on_dialog)


async def obey(command, playwright, names):
    global reach
    try:
        if "connect" in command:
            reach = command
            await connect(playwright.chromium.connect_over_cdp, names)
            return say(said="ready")
        if not connection.is_connected():
            await connect(playwright.chromium.connect_over_cdp, names)
        await choose(command["target"], names)
        say(said="begun")
        done = await run(command["run"], names)
        page = names.get("page")
        target = await target_of(page) if usable(page) else None
        say(said="done", target=target, **done)
    except Exception as error:
        say(said="failed", reason=str(error))


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=16 * 1024 * 1024)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(3, "rb", 0))
    names = {"__name__": "__main__", "__builtins__": __builtins__}
    playwright = await async_playwright().start()
    sys.stdout, sys.stderr = Output("stdout"), Output("stderr")
    say(said="loaded")
    while line := await reader.readline():
        command = json.loads(line)
        if "file" in command:
            receive(command)
        else:
            # A reference, so that the task is not collected. Files arrive while code runs.
            task = asyncio.ensure_future(obey(command, playwright, names))
    os._exit(0)


asyncio.run(main())
