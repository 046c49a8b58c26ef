"""validator.py - jsonschema's validator of cscope-mpi's schema, with references that are quick."""
from jsonschema import Draft202012Validator
from jsonschema.validators import extend


def validator_of(schema):
    """All references are to $defs of the schema itself: the library, which looks among those
    of any document, takes half of its time for that."""
    definitions = schema["$defs"]

    def refer(validator, reference, value, _):
        return validator.descend(value, definitions[reference.removeprefix("#/$defs/")])

    return extend(Draft202012Validator, {"$ref": refer})(schema)
