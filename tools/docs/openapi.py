"""The generated parts that come from the OpenAPI document, and those of that document that come from the program."""

import functools
import json
import re
import subprocess

from program import ROOT, program
from text import cell, code, sentence, table

# The largest integer of the JSON decoder, which is no limit that a caller meets.
INTEGER_MAX = (1 << 63) - 1
METHODS = ("get", "post", "put", "delete")


PATH = "Sources/Service/AttachPrepService/OpenAPI/openapi.json"


@functools.cache
def document():
    return json.loads((ROOT / PATH).read_text(encoding="utf-8"))


@functools.cache
def completed():
    """The OpenAPI document with the options of a request and lists of names from the program; the rest is by hand."""
    dump = subprocess.run([program(), "--experimental-dump-openapi"], check=True, capture_output=True, text=True).stdout
    fragments = json.loads(dump)
    options = fragments["options"]
    whole = json.loads((ROOT / PATH).read_text(encoding="utf-8"))
    schemas = whole["components"]["schemas"]
    schemas["Options"]["properties"] = options["Options"]
    members = schemas["AttachmentRequest"]["properties"]
    first = {key: members[key] for key in ("source", "id", "options")}
    last = {key: members[key] for key in members if key in JOB_OPTIONS}
    members = schemas["AttachmentRequest"]["properties"] = first | options["AttachmentRequest"] | last
    without_source = {key: value for key, value in members.items() if key != "source"}
    schemas["PayloadSubmission"]["properties"]["request"]["properties"] = without_source
    for pointer, names in fragments["names"].items():
        schema = schemas
        for step in pointer.split("/"):
            schema = schema[step]
        schema["enum"] = names + [None] * (None in schema["enum"])
    return written(whole) + "\n"


# Members of a request that only the service has, written by hand.
JOB_OPTIONS = ("callbackURL", "priority", "tags", "notBefore", "notAfter", "retry", "payload")


def written(value, indent=0, used=0):
    """JSON with two spaces; what fits into 120 columns is on one line."""
    line = on_one_line(value)
    if not value or not isinstance(value, (dict, list)) or indent + used + len(line) <= 120:
        return line
    keys = [json.dumps(key) + ": " for key in value] if isinstance(value, dict) else [""] * len(value)
    each = list(value.values()) if isinstance(value, dict) else value
    lines = [" " * (indent + 2) + key + written(one, indent + 2, len(key) + (number < len(each) - 1))
             for number, (key, one) in enumerate(zip(keys, each))]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([first, ",\n".join(lines), " " * indent + last])


def on_one_line(value):
    if isinstance(value, dict) and value:
        return "{ " + ", ".join(f"{json.dumps(key)}: {on_one_line(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(on_one_line, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def resolved(value):
    """What a reference names, and its name."""
    name = None
    while "$ref" in value:
        found = document()
        for step in value["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        name, value = value["$ref"].rsplit("/", 1)[1], found
    return value, name


def link(name):
    return f"[{name}](#{name.lower()})"


def each():
    """All operations but HEAD, which is GET without the body, in the order of the tags."""
    for tag in document()["tags"]:
        for path, methods in document()["paths"].items():
            for method in METHODS:
                if method in methods and tag["name"] in methods[method].get("tags", []):
                    yield tag, method.upper(), path, methods[method]


def routes():
    return table(["request", "what it does"], [
        [f"[{code(f'{method} {path}')}](#{anchor(method, path)})", cell(sentence(one["summary"]))]
        for _, method, path, one in each()])


def anchor(method, path):
    """The id of an operation's heading, as both the forge and mkdocs make it."""
    return re.sub(r"[^\w\- ]", "", f"{method} {path}".lower()).strip().replace(" ", "-")


def type_of(schema):
    """A short description of a schema's type, with links to named schemas."""
    schema, name = resolved(schema)
    if name and (schema.get("properties") or schema.get("enum")):
        return link(name)
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join(code(json.dumps(value)) for value in schema["enum"])
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(type_of(one) for one in schema[key]))
    if "allOf" in schema:
        return " and ".join(type_of(one) for one in schema["allOf"])
    types = schema.get("type", "any")
    types = types if isinstance(types, list) else [types]
    shown = ["array of " + type_of(schema["items"]) if one == "array" and "items" in schema else one for one in types]
    return " or ".join(shown) + bounds(schema)


def bounds(schema):
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    high = schema.get("exclusiveMaximum", high)
    high = None if high is not None and high >= INTEGER_MAX else high
    words = [f"{low:,} to {high:,}" if low is not None and high is not None
             else f"from {low:,}" if low is not None else f"up to {high:,}" if high is not None else ""]
    if "maxLength" in schema:
        words.append(f"at most {schema['maxLength']:,} characters")
    if "maxItems" in schema:
        words.append(f"at most {schema['maxItems']:,} items")
    words = [word for word in words if word]
    return f" ({', '.join(words)})" if words else ""


def members(schema, prefix=""):
    """Rows of an object's members; objects without a name of their own are listed with their path."""
    for key, value in schema.get("properties", {}).items():
        inner, name = resolved(value)
        description = value.get("description") or inner.get("description") or ""
        choices = [one for one in inner.get("oneOf", inner.get("anyOf", [])) if "$ref" not in one]
        objects = [one for one in [inner, *choices] if one.get("properties")] if not name else []
        required = key in schema.get("required", [])
        kind = type_of(value)
        yield [code(prefix + key), kind, "yes" if required else "", cell(sentence(description))]
        for one in objects:
            yield from members(one, f"{prefix}{key}.")
        items, item_name = resolved(inner.get("items", {}))
        if items.get("properties") and not item_name:
            yield from members(items, f"{prefix}{key}[].")


def member_table(name):
    schema = document()["components"]["schemas"][name]
    return table(["member", "type", "always", "meaning"], list(members(schema)))


def request():
    return "\n\n".join([member_table("AttachmentRequest").replace("| always |", "| required |"),
                        "Members of `options`:", member_table("Options").replace("| always |", "| required |")])


def manifest():
    return member_table("Manifest").replace("](#", "](http.md#")


def content(body):
    """The media types of a body with their schemas."""
    return "; ".join(f"`{media}`" + (f": {type_of(one['schema'])}" if one.get("schema") else "")
                     for media, one in body.get("content", {}).items())


def operations():
    lines, last = [], None
    for tag, method, path, one in each():
        if tag["name"] != last:
            last = tag["name"]
            lines += [f"### Operations on {last}", "", cell(sentence(tag["description"])), ""]
        lines += [f"#### {method} {path}", "", cell(sentence(one["summary"]))]
        lines[-1] += " " + cell(one["description"]) if one.get("description") else ""
        lines += ["", *parameters(one)]
        if body := one.get("requestBody"):
            lines += [f"Body: {content(resolved(body)[0])}", ""]
        lines += [*responses(one), ""]
    return "\n".join(lines)


def parameters(one):
    listed = [resolved(parameter)[0] for parameter in one.get("parameters", [])]
    if not listed:
        return []
    return [table(["parameter", "in", "type", "meaning"], [
        [code(each["name"]), each["in"], type_of(each["schema"]), cell(sentence(each.get("description", "")))]
        for each in listed]), ""]


def responses(one):
    """The responses of success; the errors of every operation are in one list."""
    rows = []
    for status, response in one["responses"].items():
        response, _ = resolved(response)
        if status < "400":
            rows.append([status, cell(sentence(response["description"])), content(response)])
    errors = ", ".join(status for status in one["responses"] if status >= "400")
    return [table(["status", "meaning", "body"], rows), "", f"Errors: {errors}."]


def schemas():
    lines = []
    for name, schema in document()["components"]["schemas"].items():
        lines += [f"### {name}", ""]
        lines += [cell(sentence(schema["description"])), ""] if schema.get("description") else []
        if name == "ErrorCode":
            lines += ["The codes are in [Codes](error-codes.md#errors).", ""]
        elif name == "Manifest":
            lines += ["Its members are in [Manifest](manifest.md#members).", ""]
        elif schema.get("properties"):
            lines += [member_table(name), ""]
        else:
            lines += [type_of(schema), ""]
    return "\n".join(lines)
