"""What a Python program would do: its syntax tree is walked with values as far as they are known.

Nothing of the program is executed. What runs at once is walked in order: both branches of a condition, each loop once
or for the items that are known, functions where they are called. A function that nothing calls does nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model import ANYTHING, UNKNOWN, Actions, Value
from . import python_calls, python_effects
from .values import MAX_TEXT, Thing, joined, percent, text_of

MAX_STEPS = 12_000
MAX_DEPTH = 60
MAX_ITEMS = 24
MANY = 1000  # processes started by one loop beyond which it counts as endless
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_VALID_ESCAPES = frozenset("\n\r\\'\"abfnrtv01234567xNuU")
_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
# A condition with these alone tells files from folders and leaves nothing out.
_KIND_TESTS = frozenset("isfile isdir islink exists lexists is_file is_dir is_symlink".split())

BREAK, CONTINUE, RETURN = "break", "continue", "return"


class _Enough(Exception):
    """The bound on steps is reached."""


@dataclass(slots=True)
class Function:
    """A function of the program and the scopes that it sees; ``bound``: its ``self``."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scopes: list[dict[str, Any]]
    bound: Any = None


@dataclass(slots=True)
class Class:
    """A class of the program."""

    node: ast.ClassDef
    scopes: list[dict[str, Any]]
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Bound:
    """A method of a plain value."""

    receiver: Any
    name: str


@dataclass(slots=True)
class Loop:
    """What was seen in a loop: processes started, and what holds it up or ends it."""

    endless: bool
    conditions: int
    spawns: int = 0
    waits: int = 0


def parse(text: str) -> ast.Module | None:
    """The syntax tree, None where the text is not Python; escapes that Python warns about are written out first."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: found[0] if found[1] in _VALID_ESCAPES else "\\" + found[0], text)
    try:
        return ast.parse(text)
    except _ERRORS:
        return None


def judge_python(text: str, act: Actions, arguments: Sequence[Value] = ()) -> Value | None:
    """Note what the program would do; what it prints as far as that is known, None where it is no Python."""
    tree = parse(text[:MAX_TEXT])
    if tree is None:
        return None
    program = Program(act, arguments)
    program.run(tree)
    return joined(program.printed)


class Program:
    """One run over one syntax tree."""

    def __init__(self, act: Actions, arguments: Sequence[Value] = ()) -> None:
        self.act = act
        self.peer = ""  # the host of the last socket that was connected
        self.cwd = ""  # set by chdir; '' means that of the call
        self.arguments = list(arguments)
        self.scopes: list[dict[str, Any]] = [{"__name__": Value("__main__"), "__file__": Thing("__file__")}]
        self.loops: list[Loop] = []
        self.conditions = 0
        self.steps = MAX_STEPS
        self.depth = 0
        self.running: list[ast.AST] = []
        self.result: Any = None
        self.facts: set[str] = set()
        self.printed: list[Value] = []
        self.spawners: set[ast.AST] = set()

    def run(self, tree: ast.Module) -> None:
        """Walk the whole program."""
        try:
            self.block(tree.body)
        except (_Enough, RecursionError):
            return

    # --- statements

    def block(self, statements: Sequence[ast.stmt]) -> str | None:
        """Walk statements up to one that leaves the block."""
        for statement in statements:
            if signal := self.statement(statement):
                return signal
        return None

    def statement(self, node: ast.stmt) -> str | None:
        """Walk one statement; what it leaves, if anything."""
        self.steps -= 1
        if self.steps < 0:
            raise _Enough
        handler = _STATEMENTS.get(type(node))
        return handler(self, node) if handler else None

    def _expression(self, node: ast.Expr) -> None:
        value = self.eval(node.value)
        if len(self.scopes) == 1 and isinstance(node.value, ast.Call):
            python_calls.discard(self, value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.eval(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        value = self.eval(node.value)
        before = self.eval(node.target)
        self.bind(node.target, self.combine(node.op, before, value))

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.scopes[-1][alias.asname or name] = Thing(name)

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            if alias.name == "*":
                self.scopes[-1].update(
                    {name: Thing(f"{module}.{name}") for name in python_calls.STARRED.get(module, ())}
                )
            else:
                self.scopes[-1][alias.asname or alias.name] = Thing(f"{module}.{alias.name}")

    def _if(self, node: ast.If) -> str | None:
        truth = self.truth(self.eval(node.test))
        if truth is not None:
            return self.block(node.body if truth else node.orelse)
        counts = not _only_kind_tests(node.test)
        before = dict(self.scopes[-1])
        self.conditions += counts
        first = self.block(node.body)
        after = self.scopes[-1]
        taken = {name: value for name, value in after.items() if before.get(name) is not value}
        for name in taken:  # the other branch starts from where this one did
            if name in before:
                after[name] = before[name]
        second = self.block(node.orelse)
        self.conditions -= counts
        for name, value in taken.items():
            if not _known(after.get(name)) or after.get(name) is before.get(name):
                after[name] = value if _known(value) or name not in before else after[name]
        if first and second:
            return first
        if counts and (first or second) and self.loops:
            self.conditions += 1  # what follows in this loop happens to some items only
        return None

    def _for(self, node: ast.For | ast.AsyncFor) -> str | None:
        source = self.eval(node.iter)
        self.loop(source, lambda item: self._iteration(node.target, item, node.body))
        return self.block(node.orelse)

    def _iteration(self, target: ast.expr, item: Any, body: Sequence[ast.stmt]) -> str | None:
        self.bind(target, item)
        return self.block(body)

    def items(self, source: Any) -> list[Any]:
        """What a loop over a value goes over."""
        return _items_of(source)

    def callable(self, value: Any) -> bool:
        """Whether a value can be called, as far as that is known."""
        return isinstance(value, (Function, Class, Bound)) or (
            isinstance(value, Thing) and value.name in python_effects.HANDLERS
        )

    def loop(self, source: Any, body: Callable[[Any], str | None]) -> None:
        """Go over what is known of the items; the same whatever the loop is written as."""
        endless = isinstance(source, Thing) and (
            source.name == "itertools.count()" or (source.name == "range" and source.fields.get("size", 0) > MANY)
        )
        loop = Loop(endless, self.conditions)
        self.loops.append(loop)
        try:
            for item in _items_of(source)[:MAX_ITEMS]:
                if body(item) in (BREAK, RETURN):
                    loop.waits += 1
                    break
        finally:
            self.conditions = loop.conditions
            self.loops.pop()
        self._bomb(loop)

    def _while(self, node: ast.While) -> str | None:
        loop = Loop(False, self.conditions)
        self.loops.append(loop)
        try:
            truth = self.truth(self.eval(node.test))
            loop.endless = truth is True or loop.spawns > 0
            if truth is not False and (self.block(node.body) in (BREAK, RETURN) or _leaves(node.body)):
                loop.waits += 1
        finally:
            self.conditions = loop.conditions
            self.loops.pop()
        self._bomb(loop)
        return self.block(node.orelse)

    def _bomb(self, loop: Loop) -> None:
        if loop.endless and loop.spawns and not loop.waits:
            self.act.effect("fork_bomb", "starts processes in an endless loop")
        if self.loops:  # a loop inside a loop
            self.loops[-1].spawns += loop.spawns
            self.loops[-1].waits += loop.waits

    def _with(self, node: ast.With | ast.AsyncWith) -> str | None:
        for item in node.items:
            value = self.eval(item.context_expr)
            if isinstance(value, Thing) and value.name == "tempfile.TemporaryDirectory()":
                value = value.value
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        return self.block(node.body)

    def _try(self, node: ast.Try) -> str | None:
        signal = self.block(node.body)
        for handler in node.handlers:
            self.block(handler.body)
        signal = self.block(node.orelse) or signal
        return self.block(node.finalbody) or signal

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        function: Any = Function(node, list(self.scopes))
        self.scopes[-1][node.name] = function
        for decorator in node.decorator_list:
            maker = self.eval(decorator)
            if isinstance(maker, Function) or (isinstance(maker, Thing) and maker.name == "atexit.register"):
                self.call(maker, [function], {})
        for default in node.args.defaults:
            self.eval(default)

    def _class(self, node: ast.ClassDef) -> None:
        made = Class(node, list(self.scopes))
        self.scopes.append(made.fields)
        self.block(node.body)
        self.scopes.pop()
        self.scopes[-1][node.name] = made

    def _return(self, node: ast.Return) -> str:
        if node.value is not None:
            value = self.eval(node.value)
            if _known(value) or not _known(self.result):
                self.result = value
        return RETURN

    def _match(self, node: ast.Match) -> None:
        self.eval(node.subject)
        for case in node.cases:
            self.block(case.body)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.eval(target)

    def _raise(self, node: ast.Raise) -> str | None:
        if node.exc is not None:
            self.eval(node.exc)
        return RETURN

    def _assert(self, node: ast.Assert) -> None:
        self.eval(node.test)

    def bind(self, target: ast.expr, value: Any) -> None:
        """Assign to a name, an attribute, a subscript or several of them."""
        if isinstance(target, ast.Name):
            self.scopes[-1][target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = value if isinstance(value, (list, tuple)) else []
            for at, each in enumerate(target.elts):
                rest = Value(UNKNOWN, text_of(value).marks)
                self.bind(each, items[at] if at < len(items) and not isinstance(each, ast.Starred) else rest)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value)
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value)
            if isinstance(owner, (Thing, Class)):
                owner.fields[target.attr] = value
        elif isinstance(target, ast.Subscript):
            owner, key = self.eval(target.value), self.eval(target.slice)
            if isinstance(owner, dict) and isinstance(key, Value):
                owner[key.text] = value
            elif isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner):
                owner[key] = value

    # --- expressions

    def eval(self, node: ast.expr | None) -> Any:
        """The value of an expression; the calls in it are noted on the way."""
        if node is None:
            return None
        self.steps -= 1
        if self.steps < 0:
            raise _Enough
        if self.depth >= MAX_DEPTH:
            return ANYTHING
        handler = _EXPRESSIONS.get(type(node))
        self.depth += 1
        try:
            return handler(self, node) if handler else self._children(node)
        finally:
            self.depth -= 1

    def _children(self, node: ast.expr) -> Any:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)
        return ANYTHING

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        return (
            Value(value)
            if isinstance(value, str)
            else value
            if not isinstance(value, (complex, type(...)))
            else ANYTHING
        )

    def _name(self, node: ast.Name) -> Any:
        for scope in reversed(self.scopes):
            if node.id in scope:
                return scope[node.id]
        return Thing(node.id) if node.id in python_calls.BUILTINS else ANYTHING

    def _attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.eval(node.value), node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        """``owner.name``."""
        if isinstance(owner, Thing):
            if name in owner.fields:
                found = owner.fields[name]
                return Function(found.node, found.scopes, owner) if isinstance(found, Function) else found
            return python_calls.attribute(self, owner, name)
        if isinstance(owner, Class):
            return owner.fields.get(name, ANYTHING)
        if owner is None or isinstance(owner, (Function, Bound)):
            return ANYTHING
        return Bound(owner, name)

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.eval(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._slice(owner, node.slice)
        return python_calls.item(self, owner, self.eval(node.slice))

    def _slice(self, owner: Any, part: ast.Slice) -> Any:
        bounds = [self.eval(bound) for bound in (part.lower, part.upper, part.step)]
        if all(bound is None or isinstance(bound, int) for bound in bounds) and bounds[2] != 0:
            if isinstance(owner, Value) and owner.known:
                return Value(owner.text[slice(*bounds)], owner.marks)
            if isinstance(owner, (list, tuple, bytes)):
                return owner[slice(*bounds)]
        return Value(UNKNOWN, text_of(owner).marks)

    def _call(self, node: ast.Call) -> Any:
        function = self.eval(node.func)
        args: list[Any] = []
        for arg in node.args:
            value = self.eval(arg.value if isinstance(arg, ast.Starred) else arg)
            if isinstance(arg, ast.Starred) and isinstance(value, (list, tuple)):
                args.extend(value)
            else:
                args.append(value)
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict):
                named.update(value)
        return self.call(function, args, named)

    def call(self, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
        """Call anything."""
        if isinstance(function, Function):
            return self.apply(function, args, named)
        if isinstance(function, Class):
            made = Thing("instance", fields=dict(function.fields))
            if isinstance(start := function.fields.get("__init__"), Function):
                self.apply(Function(start.node, start.scopes, made), args, named)
            return made
        if isinstance(function, Bound):
            if isinstance(function.receiver, Value) and function.receiver.marks == 0 and not function.receiver.known:
                return python_calls.unknown_method(self, function.name, args, named)
            return python_calls.plain_method(self, function.receiver, function.name, args)
        if isinstance(function, Thing):
            return python_calls.call(self, function, args, named)
        python_calls.callbacks(self, "", args, named)
        return ANYTHING

    def apply(self, function: Function, args: Sequence[Any], named: dict[str, Any]) -> Any:
        """Run a function of the program."""
        node = function.node
        if node in self.running or len(self.running) >= 12:
            if node in self.spawners:
                self.act.effect("fork_bomb", "a function that starts processes calls itself")
            return ANYTHING
        local: dict[str, Any] = {}
        given = list(args) if function.bound is None else [function.bound, *args]
        names = [*node.args.posonlyargs, *node.args.args]
        defaults = [self.eval(default) for default in node.args.defaults]
        for at, parameter in enumerate(names):
            default = at - (len(names) - len(defaults))
            fallback = defaults[default] if default >= 0 else ANYTHING
            local[parameter.arg] = given[at] if at < len(given) else named.get(parameter.arg, fallback)
        for parameter, default_node in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            local[parameter.arg] = named.get(parameter.arg, self.eval(default_node) if default_node else ANYTHING)
        if node.args.vararg:
            local[node.args.vararg.arg] = given[len(names) :] or [ANYTHING]
        if node.args.kwarg:
            local[node.args.kwarg.arg] = dict(named)
        before, result, conditions, loops = self.scopes, self.result, self.conditions, self.loops
        self.scopes, self.result = [*function.scopes, local], None
        self.running.append(node)
        try:
            if isinstance(node, ast.Lambda):
                return self.eval(node.body)
            self.block(node.body)
            return self.result
        finally:
            self.running.pop()
            self.scopes, self.result, self.conditions, self.loops = before, result, conditions, loops

    def _lambda(self, node: ast.Lambda) -> Function:
        return Function(node, list(self.scopes))

    def combine(self, operator: ast.operator, left: Any, right: Any) -> Any:
        """The value of a binary operation."""
        if isinstance(operator, ast.Mod) and isinstance(left, Value):
            return percent(left, right)
        if isinstance(operator, ast.Div) and isinstance(left, Thing) and left.name == "Path":
            return python_calls.path(self, left.value, text_of(right))
        if isinstance(left, int) and isinstance(right, int):
            return _arithmetic(operator, left, right)
        if isinstance(operator, ast.Add):
            if isinstance(left, bytes) and isinstance(right, bytes):
                return (left + right)[:MAX_TEXT]
            if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
                return [*left, *right][:1000]
            whole = text_of(left) + text_of(right)
            return Value(whole.text[:MAX_TEXT], whole.marks)
        if isinstance(operator, ast.Mult):
            if isinstance(right, int) and isinstance(left, Value) and left.known:
                return Value(left.text * max(0, min(right, MAX_TEXT // max(1, len(left.text)))), left.marks)
            if isinstance(left, list) and isinstance(right, int):
                return left * max(0, min(right, 10))
        return Value(UNKNOWN, text_of(left).marks | text_of(right).marks)

    def _binary(self, node: ast.BinOp) -> Any:
        # A chain a + b + c + ... leans to the left: taken apart here, so that its length costs no depth.
        chain: list[tuple[ast.operator, ast.expr]] = []
        first: ast.expr = node
        while isinstance(first, ast.BinOp):
            chain.append((first.op, first.right))
            first = first.left
        value = self.eval(first)
        for operator, right in reversed(chain):
            value = self.combine(operator, value, self.eval(right))
        return value

    def _unary(self, node: ast.UnaryOp) -> Any:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            truth = self.truth(value)
            return ANYTHING if truth is None else not truth
        if isinstance(node.op, ast.USub) and isinstance(value, int):
            return -value
        return value

    def _boolean(self, node: ast.BoolOp) -> Any:
        values: list[Any] = []
        for each in node.values:
            value = self.eval(each)
            truth = self.truth(value)
            values.append(value)
            if truth is not None and truth == isinstance(node.op, ast.Or):
                return value if all(_known(one) for one in values) or truth else ANYTHING
        return next((value for value in reversed(values) if _known(value)), values[-1])

    def _compare(self, node: ast.Compare) -> Any:
        left = self.eval(node.left)
        rights = [self.eval(each) for each in node.comparators]
        if (
            len(rights) == 1
            and isinstance(left, Value)
            and isinstance(rights[0], Value)
            and left.known
            and rights[0].known
        ):
            if isinstance(node.ops[0], ast.Eq):
                return left.text == rights[0].text
            if isinstance(node.ops[0], ast.NotEq):
                return left.text != rights[0].text
        return ANYTHING

    def _choice(self, node: ast.IfExp) -> Any:
        truth = self.truth(self.eval(node.test))
        if truth is not None:
            return self.eval(node.body if truth else node.orelse)
        first, second = self.eval(node.body), self.eval(node.orelse)
        return first if _known(first) or not _known(second) else second

    def truth(self, value: Any) -> bool | None:
        """Whether a value is true, None where that is not known."""
        if value is None or isinstance(value, (bool, int, bytes)):
            return bool(value)
        if isinstance(value, Value):
            return bool(value.text) if value.known else None
        if isinstance(value, (list, dict)):
            return False if not value else None
        return None

    def _joined(self, node: ast.JoinedStr) -> Value:
        return joined(
            [text_of(self.eval(part.value if isinstance(part, ast.FormattedValue) else part)) for part in node.values]
        )

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> list[Any]:
        found: list[Any] = []
        for each in node.elts[:1000]:
            value = self.eval(each.value if isinstance(each, ast.Starred) else each)
            if isinstance(each, ast.Starred) and isinstance(value, (list, tuple)):
                found.extend(value)
            else:
                found.append(value)
        return found

    def _dictionary(self, node: ast.Dict) -> Any:
        found: dict[str, Any] = {}
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.eval(each)
            if key is None:
                found.update(value if isinstance(value, dict) else {f"**{len(found)}": value})
            else:
                name = self.eval(key)
                found[name.text if isinstance(name, Value) else str(name)[:80]] = value
        return found

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> list[Any]:
        found: list[Any] = []
        self._generate(node.generators, lambda: found.append(self.eval(node.elt)))
        return found[:1000]

    def _dict_comprehension(self, node: ast.DictComp) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def keep() -> None:
            found[text_of(self.eval(node.key)).text[:200]] = self.eval(node.value)

        self._generate(node.generators, keep)
        return found

    def _generate(self, generators: Sequence[ast.comprehension], each: Callable[[], Any]) -> None:
        if not generators:
            each()
            return
        first = generators[0]

        def body(item: Any) -> None:
            self.bind(first.target, item)
            for test in first.ifs:
                self.eval(test)
            self.conditions += sum(not _only_kind_tests(test) for test in first.ifs)
            self._generate(generators[1:], each)

        self.loop(self.eval(first.iter), body)

    def _named(self, node: ast.NamedExpr) -> Any:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    def _inner(self, node: ast.Await | ast.Starred | ast.YieldFrom | ast.FormattedValue) -> Any:
        return self.eval(node.value)

    def _yield(self, node: ast.Yield) -> Any:
        if node.value is not None:
            self.result = [self.eval(node.value)]
        return ANYTHING


def _items_of(source: Any) -> list[Any]:
    """What a loop over a value goes over, as far as it is known; one unknown item at the least."""
    if isinstance(source, (list, tuple)):
        return list(source)
    if isinstance(source, dict):
        return [Value(key) for key in source]
    if isinstance(source, Value) and source.known and len(source.text) <= MAX_ITEMS:
        return [Value(char, source.marks) for char in source.text]
    if isinstance(source, bytes):
        return list(source[:MAX_ITEMS])
    return [Value(UNKNOWN, text_of(source).marks)]


def _known(value: Any) -> bool:
    return value is not None and not (isinstance(value, Value) and not value.known)


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop's body may break out of it."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Break, ast.Return)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.For, ast.While)):
            pending.extend(
                child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.stmt, ast.ExceptHandler))
            )
    return False


def _only_kind_tests(test: ast.expr) -> bool:
    """Whether a condition only tells files from folders."""
    if isinstance(test, ast.UnaryOp):
        return _only_kind_tests(test.operand)
    if isinstance(test, ast.BoolOp):
        return all(_only_kind_tests(each) for each in test.values)
    if isinstance(test, ast.Call):
        function = test.func
        name = (
            function.attr
            if isinstance(function, ast.Attribute)
            else function.id
            if isinstance(function, ast.Name)
            else ""
        )
        return name in _KIND_TESTS
    return False


def _arithmetic(operator: ast.operator, left: int, right: int) -> Any:
    if abs(left) < 1 << 40 and abs(right) < 1 << 40:
        if isinstance(operator, ast.Add):
            return left + right
        if isinstance(operator, ast.Sub):
            return left - right
        if isinstance(operator, ast.Mult):
            return left * right
        if isinstance(operator, ast.BitXor):
            return left ^ right
        if isinstance(operator, ast.BitOr):
            return left | right
        if isinstance(operator, ast.Pow) and 0 <= right < 64 and abs(left) < 1 << 10:
            return left**right
    return ANYTHING


_STATEMENTS: dict[type, Callable[..., str | None]] = {
    ast.Expr: Program._expression, ast.Assign: Program._assign, ast.AnnAssign: Program._annotated,
    ast.AugAssign: Program._augmented, ast.Import: Program._import, ast.ImportFrom: Program._import_from,
    ast.If: Program._if, ast.For: Program._for, ast.AsyncFor: Program._for, ast.While: Program._while,
    ast.With: Program._with, ast.AsyncWith: Program._with, ast.Try: Program._try, ast.TryStar: Program._try,
    ast.FunctionDef: Program._define, ast.AsyncFunctionDef: Program._define, ast.ClassDef: Program._class,
    ast.Return: Program._return, ast.Match: Program._match, ast.Delete: Program._delete, ast.Raise: Program._raise,
    ast.Assert: Program._assert, ast.Break: lambda *_: BREAK, ast.Continue: lambda *_: CONTINUE,
}  # fmt: skip
_EXPRESSIONS: dict[type, Callable[..., Any]] = {
    ast.Constant: Program._constant, ast.Name: Program._name, ast.Attribute: Program._attribute,
    ast.Subscript: Program._subscript, ast.Call: Program._call, ast.Lambda: Program._lambda,
    ast.BinOp: Program._binary,
    ast.UnaryOp: Program._unary, ast.BoolOp: Program._boolean, ast.Compare: Program._compare,
    ast.IfExp: Program._choice,
    ast.JoinedStr: Program._joined, ast.List: Program._sequence, ast.Tuple: Program._sequence,
    ast.Set: Program._sequence, ast.Dict: Program._dictionary, ast.ListComp: Program._comprehension,
    ast.SetComp: Program._comprehension, ast.GeneratorExp: Program._comprehension,
    ast.DictComp: Program._dict_comprehension, ast.NamedExpr: Program._named,
    ast.Await: Program._inner, ast.Starred: Program._inner, ast.YieldFrom: Program._inner,
    ast.FormattedValue: Program._inner, ast.Yield: Program._yield,
}  # fmt: skip
