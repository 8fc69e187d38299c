"""The HTTP side of the dashboard tab; the host mounts ``router`` under ``/api/plugins/agent-ledger``.

The host loads this file on its own, outside of any package. The plugin's package is found by its place beside this
folder and loaded under a name of its own: the plugin folder is not on the path, and another distribution may be called
agent_ledger. Who may ask at all is the host's to say: it checks the session token (or the login), the Host header and
whether the plugin is enabled before a request comes here.
"""

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response


def _package():
    """The name under which the package beside this folder is loaded."""
    init = Path(__file__).resolve().parent.parent / "agent_ledger" / "__init__.py"
    name = "agent_ledger_dashboard_" + hashlib.sha256(str(init).encode()).hexdigest()[:12]
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(init.parent)])
        if spec is None or spec.loader is None or not init.is_file():
            raise ImportError(f"{init} is not there. Keep the folder `dashboard` inside the plugin's folder")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return name


_name = _package()
answers = importlib.import_module(f"{_name}.dashboard.answers")
plain = importlib.import_module(f"{_name}.dashboard.plain")
errors = importlib.import_module(f"{_name}.errors")
most_body = importlib.import_module(f"{_name}.dashboard.asked").MOST_BODY

router = APIRouter()
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def _response(value, code=200):
    return Response(plain.text(value), code, headers=_HEADERS, media_type="application/json")


def _answer(question, *arguments):
    """What ``question`` answers, or its error in the form that the host's own errors have."""
    try:
        return _response(question(*arguments))
    except errors.NoSuchCall as missing:
        return _response({"detail": str(missing)}, 404)
    except errors.UsageError as wrong:
        return _response({"detail": str(wrong)}, 400)
    except errors.LedgerError as trouble:
        return _response({"detail": str(trouble)}, 503)


def _asks(question):
    def endpoint(request: Request):  # not async: the host runs it in a thread, with the profile of the request
        return _answer(question, {**request.query_params, **request.path_params})

    return endpoint


for _path, _question in answers.QUESTIONS.items():
    router.add_api_route(_path, _asks(_question), methods=["GET"], include_in_schema=False)


@router.post("/calls/{id}/settle", include_in_schema=False)
async def settle(id: str, request: Request):
    # A form of another site can be sent without asking first, JSON cannot.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _response({"detail": "Only application/json is taken here"}, 415)
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most_body:
            return _response({"detail": f"More than {most_body} bytes"}, 413)
    return await run_in_threadpool(_answer, answers.settle_call, id, body, _who(request))


# Last: what is not asked above ends here. 0.22 would mount the plugin anew for each unknown path, without an end.
@router.api_route("/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False)
def nothing(path: str):
    return _response({"detail": "Not Found"}, 404)


def _who(request):
    """The person that logged in, '' where the host asks for no login but for its token."""
    session = getattr(request.state, "session", None)
    names = (getattr(session, name, None) for name in ("email", "display_name", "user_id"))
    return next((name for name in names if isinstance(name, str) and name), "")
