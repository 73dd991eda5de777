"""DAP requests and responses, and validation of the arguments of requests."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

INTEGER_MAXIMUM = (1 << 53) - 1
SEQ_MAXIMUM = (1 << 31) - 1
TEXT_MAXIMUM = 1 << 20
_REQUIRED = object()


class Failure(Exception):
    """A sentence that says why a request failed; `more` are further fields of
    the response body."""

    def __init__(self, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.more = more

    def body(self) -> Dict[str, Any]:
        text = str(self)
        message: Dict[str, Any] = {"id": 1, "format": text, "showUser": False}
        if "{" in text:
            # DAP replaces {name} in a format by a variable.
            message.update(format="{text}", variables={"text": text})
        return dict(self.more, error=message)


def _kind(value: Any) -> str:
    return {bool: "true or false", int: "a number", float: "a number",
            str: "a string", list: "a list", dict: "an object"}.get(
                type(value), "null")


class Arguments:
    """The fields of a JSON object; each method checks the type of a field and
    raises Failure. null counts as missing. `place` is put before field names
    in error messages."""

    def __init__(self, fields: Dict[str, Any], place: str = "") -> None:
        self.fields = fields
        self.place = place

    def has(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def _take(self, name: str, kinds: Tuple[type, ...], wanted: str,
              default: Any) -> Any:
        value = self.fields.get(name)
        if value is None:
            if default is _REQUIRED:
                raise Failure("%s is missing (expected %s)"
                              % (self.place + name, wanted))
            return default
        if type(value) not in kinds:
            raise Failure("%s must be %s, not %s" % (
                self.place + name, wanted, _kind(value)))
        return value

    def integer(self, name: str, default: Any = _REQUIRED, low: int = 0,
                high: int = INTEGER_MAXIMUM) -> Any:
        value = self._take(name, (int,), "an integer", default)
        if value is not default and not low <= value <= high:
            raise Failure("%s must be a number from %d to %d"
                          % (self.place + name, low, high))
        return value

    def number(self, name: str, default: Any = _REQUIRED) -> Any:
        return self._take(name, (int, float), "a number", default)

    def text(self, name: str, default: Any = _REQUIRED,
             maximum: int = TEXT_MAXIMUM) -> Any:
        value = self._take(name, (str,), "a string", default)
        if value is not default and len(value) > maximum:
            raise Failure("%s can have at most %d characters"
                          % (self.place + name, maximum))
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self._take(name, (bool,), "true or false", default))

    def choice(self, name: str, choices: Tuple[str, ...],
               default: Optional[str] = None) -> Optional[str]:
        value = self.text(name, default)
        if value is not default and value not in choices:
            raise Failure("%s must be one of %s" % (self.place + name,
                                                    ", ".join(choices)))
        return value

    def object(self, name: str, default: Any = _REQUIRED) -> Any:
        """Returns an Arguments."""
        value = self._take(name, (dict,), "an object", default)
        return value if value is default else Arguments(
            value, "%s%s." % (self.place, name))

    def objects(self, name: str, maximum: int,
                default: Any = _REQUIRED) -> Any:
        """Returns a list of Arguments."""
        value = self._take(name, (list,), "a list of objects", default)
        if value is default:
            return value
        self._check_list(name, value, dict, "objects", maximum)
        return [Arguments(fields, "%s%s[%d]." % (self.place, name, i))
                for i, fields in enumerate(value)]

    def texts(self, name: str, maximum: int,
              default: Any = _REQUIRED) -> Any:
        value = self._take(name, (list,), "a list of strings", default)
        if value is not default:
            self._check_list(name, value, str, "strings", maximum)
        return value

    def _check_list(self, name: str, value: List[Any], kind: type,
                    wanted: str, maximum: int) -> None:
        if len(value) > maximum:
            raise Failure("%s can have at most %d entries"
                          % (self.place + name, maximum))
        if any(type(part) is not kind for part in value):
            raise Failure("%s must be a list of %s"
                          % (self.place + name, wanted))


def read_request(body: Dict[str, Any]) -> Tuple[int, str, Arguments]:
    """Returns the seq, the command and the arguments of a request. Raises
    Failure if body is none."""
    fields = Arguments(body)
    if body.get("type") != "request":
        raise Failure('the body is not a DAP request: "type" must be '
                      '"request"')
    number = fields.integer("seq", low=1, high=SEQ_MAXIMUM)
    command = fields.text("command", maximum=100)
    return number, command, fields.object("arguments", None) or \
        Arguments({}, "arguments.")


def response(number: int, request: int, command: str,
             body: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    told = {"seq": number, "type": "response", "request_seq": request,
            "command": command, "success": True}
    if body is not None:
        told["body"] = body
    return told


def failed(number: int, request: int, command: str,
           failure: Failure) -> Dict[str, Any]:
    return {"seq": number, "type": "response", "request_seq": request,
            "command": command, "success": False, "message": str(failure),
            "body": failure.body()}
