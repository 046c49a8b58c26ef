"""validator.py - does a value follow cscope-mpi's schema?  jsonschema would take a twentieth
of the time of all tests: it says what is wrong, where something is.  Run by itself with files
of runs it compares both: the first of each kind of element, and these with a value replaced."""
import copy
import itertools
import json
import re
import sys

TYPES = {"object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,),
         "null": (type(None),), "number": (int, float), "integer": (int, float)}
COMMENTS = {"$schema", "$id", "$defs", "title", "description", "then", "else"}


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name]) and (name != "integer" or value == int(value))


def same(a, b):
    """As JSON: 1 is 1.0, and no boolean."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def simple(key, want):
    """The check of a keyword without schemas in it; None: it is another."""
    if key == "type":
        names = [want] if isinstance(want, str) else want
        return lambda v: any(has_type(v, name) for name in names)
    if key in ("enum", "const"):
        allowed = want if key == "enum" else [want]
        return lambda v: any(same(v, one) for one in allowed)
    if key == "pattern":
        search = re.compile(want).search
        return lambda v: not isinstance(v, str) or search(v) is not None
    if key == "required":
        return lambda v: not isinstance(v, dict) or all(name in v for name in want)
    if key in ("minLength", "minItems", "maxItems"):
        kind, sign = (str if key == "minLength" else list), (1 if key[:3] == "min" else -1)
        return lambda v: not isinstance(v, kind) or sign * len(v) >= sign * want
    bounds = {"minimum": lambda v: v >= want, "maximum": lambda v: v <= want,
              "exclusiveMinimum": lambda v: v > want}
    if key in bounds:
        holds = bounds[key]
        return lambda v: not has_type(v, "number") or holds(v)
    return None


class Validator:
    """Of the schema's keywords those that it has; any other is an error here."""

    def __init__(self, schema):
        self.schema = schema
        self.definitions = schema["$defs"]
        self.known = {}
        self.follows = self.check_of(schema)

    def iter_errors(self, value):
        """Those of jsonschema."""
        if not self.follows(value):
            from jsonschema import Draft202012Validator
            yield from Draft202012Validator(self.schema).iter_errors(value)

    def definition(self, name):
        """Later, for one may be within itself."""
        if name not in self.known:
            self.known[name] = None
            self.known[name] = self.check_of(self.definitions[name])
        return lambda v: self.known[name](v)

    def check_of(self, schema):
        """A function of a value."""
        checks = [self.keyword(key, want, schema) for key, want in schema.items()
                  if key not in COMMENTS]
        if len(checks) == 1:
            return checks[0]
        return lambda v: all(check(v) for check in checks)

    def keyword(self, key, want, schema):
        """The check of one keyword."""
        check = simple(key, want)
        if check:
            return check
        if key == "$ref":
            return self.definition(want.removeprefix("#/$defs/"))
        if key in ("allOf", "anyOf", "oneOf"):
            parts = [self.check_of(part) for part in want]
            if key == "oneOf":
                return lambda v: sum(part(v) for part in parts) == 1
            quantity = all if key == "allOf" else any
            return lambda v: quantity(part(v) for part in parts)
        if key == "if":
            condition, *ways = [self.check_of(schema.get(name, {})) for name in ("if", "then", "else")]
            return lambda v: ways[0](v) if condition(v) else ways[1](v)
        if key == "items":
            item = self.check_of(want)
            return lambda v: not isinstance(v, list) or all(map(item, v))
        if key == "properties":
            of = {name: self.check_of(part) for name, part in want.items()}
            return lambda v: not isinstance(v, dict) or \
                all(of[name](part) for name, part in v.items() if name in of)
        if key == "additionalProperties":
            named, other = schema.get("properties", {}), self.check_of(want)
            return lambda v: not isinstance(v, dict) or \
                all(other(part) for name, part in v.items() if name not in named)
        raise NotImplementedError(f"{key}: not known here")


REPLACEMENTS = (None, True, 0, -1, 1.5, 10**9, "", "unknown", [], ["unknown"], {}, {"kind": "run"})


def places(value):
    """(holder, key) of each value within it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


def broken(value):
    """It, and then with one of its values replaced, or every fourth gone, each in turn."""
    value = copy.deepcopy(value)
    yield value
    turns = itertools.cycle(REPLACEMENTS)
    for number, (holder, key) in enumerate(list(places(value))):
        whole = holder[key]
        if number % 4:
            holder[key] = next(turns)
        else:
            del holder[key]
        yield value
        if isinstance(holder, list) and not number % 4:
            holder.insert(key, whole)
        else:
            holder[key] = whole


def first_of(value):
    """Of each list that there is but its first element."""
    if isinstance(value, dict):
        return {key: first_of(part) for key, part in value.items()}
    return [first_of(part) for part in value[:1]] if isinstance(value, list) else value


def main(schema_name, *names):
    """How many values both judge alike, or one that they do not."""
    from jsonschema import Draft202012Validator
    with open(schema_name, encoding="ascii") as file:
        schema = json.load(file)
    quick, library = Validator(schema), Draft202012Validator(schema)
    verdicts = {True: 0, False: 0}
    for name in names:
        with open(name, encoding="ascii") as file:
            lines = file.readlines() if name.endswith(".jsonl") else [file.read()]
        kinds = {value.get("kind"): value for value in map(json.loads, reversed(lines))}
        for document in kinds.values():
            for value in broken(first_of(document)):
                verdict = quick.follows(value)
                if verdict != library.is_valid(value):
                    sys.exit(f"{name}: jsonschema does not say {verdict} of {json.dumps(value)}")
                verdicts[verdict] += 1
    print(f"{verdicts[True]} follow the schema, {verdicts[False]} do not")
    sys.exit(not all(verdicts.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
