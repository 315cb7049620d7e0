"""What jinja2 makes of a chat template, set up as transformers' apply_chat_template sets it up.

The reference is an ImmutableSandboxedEnvironment with trim_blocks, lstrip_blocks, the loop controls, a {% generation %} tag
that writes its body, tojson without HTML escapes, raise_exception, and restricted dict and namespace. The clock says NOW.
With `through_transformers` the environment is transformers' own (5.x); the two are to agree. Needs jinja2 3.1.
"""
import copy
import datetime
import functools
import json

try:
    import jinja2
    import jinja2.ext
    import jinja2.nodes
    import jinja2.sandbox
except ImportError:
    jinja2 = None

NOW = datetime.datetime(2026, 1, 31, 12, 34, 56)
OLDEST = (3, 1, 6)


def missing():
    """Why there is no reference here; "" when there is one."""
    if jinja2 is None:
        return "this Python has no jinja2"
    version = tuple(int(part) for part in jinja2.__version__.split(".")[:3])
    if version < OLDEST:
        return f"jinja2 {jinja2.__version__} is older than {'.'.join(map(str, OLDEST))}"
    return ""


def generation_tag():
    class GenerationTag(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("written"), [], [], body).set_lineno(line)

        def written(self, caller):
            return caller()

    return GenerationTag


class RestrictedDict:
    def __call__(self, *arguments, **named):
        return dict(*arguments, **named)

    def fromkeys(self, *arguments, **named):
        return dict.fromkeys(*arguments, **named)


def require_plain_name(name):
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError("Chat templates cannot store underscore-prefixed attributes on a namespace, "
                                              f"but got {name!r}. Please rename the attribute.")


def restricted_namespace():
    class RestrictedNamespace(jinja2.utils.Namespace):
        def __init__(*arguments, **named):
            attributes = dict(*arguments[1:], **named)
            for name in attributes:
                require_plain_name(name)
            jinja2.utils.Namespace.__init__(arguments[0], attributes)

        def __setitem__(self, name, value):
            require_plain_name(name)
            super().__setitem__(name, value)

    # Messages name the class.
    RestrictedNamespace.__module__ = "transformers.utils.chat_template_utils"
    RestrictedNamespace.__name__ = "TemplateNamespace"
    return RestrictedNamespace


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@functools.cache
def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[generation_tag(), jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals.update(raise_exception=raise_exception, dict=RestrictedDict(), namespace=restricted_namespace(),
                        strftime_now=lambda format: NOW.strftime(format))
    return made


def compiled(source, through_transformers=False):
    if not through_transformers:
        return environment().from_string(source)
    from transformers.utils import chat_template_utils

    made = chat_template_utils._compile_jinja_template(source)
    made.environment.globals["strftime_now"] = lambda format: NOW.strftime(format)
    return made


def outcomes(source, list_of_variables, through_transformers=False):
    """What each set of variables gives: {"output": text}, or {"error": name of the exception, "message": text}."""
    try:
        template = compiled(source, through_transformers)
    except Exception as error:  # the exception is the result
        refusal = {"error": type(error).__name__, "message": str(error)}
        return [refusal for _ in list_of_variables]
    return [rendered(template, variables) for variables in list_of_variables]


def rendered(template, variables):
    try:
        text = template.render(**copy.deepcopy(variables))  # jinja2's indent appends to a list that it is given
        text.encode("utf-8")  # a lone surrogate cannot leave Python either
        return {"output": text}
    except Exception as error:  # the exception is the result
        return {"error": type(error).__name__, "message": str(error)}
