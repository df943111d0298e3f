"""What a list adds to a model's templates. Apart from them: tagging knows of it, and reads no templates."""

LIST_TEMPLATES = """
both: list({name})({column})[-2..2]
both: list({name})({column})[-2]/list({name})({column})[-1]
both: list({name})({column})[-1]/list({name})({column})[0]
both: list({name})({column})[0]/list({name})({column})[1]
"""
"""What Kazama & Torisawa's table 1 makes of each list of names."""

SEGMENT_LIST_TEMPLATES = """
list({name})({column})[b..e]
list({name})({column})[b]/list({name})({column})[e]
list({name})({column})[b-1]
list({name})({column})[e+1]
"""
"""Templates over segments for each list of names."""
