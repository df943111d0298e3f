"""What lists, clusters and lexicons add to a model's templates. Apart from them: tagging reads none."""

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

CLUSTER_TEMPLATES = """
cluster({name},4|6|10|all)({column})[-2..2]
cluster({name},6)({column})[-1]/cluster({name},6)({column})[0]
cluster({name},6)({column})[0]/cluster({name},6)({column})[1]
"""
"""Prefixes as Ratinov & Roth 2009 and Turian et al. 2010 take them, and pairs of neighbours."""

SEGMENT_CLUSTER_TEMPLATES = """
cluster({name},4|6|10|all)({column})[b]
cluster({name},4|6|10|all)({column})[e]
cluster({name},4|6|10|all)({column})[b-1]
cluster({name},4|6|10|all)({column})[e+1]
cluster({name},6)({column})[i]
cluster({name},6)({column})[b]/cluster({name},6)({column})[e]
cluster({name},6)({column})[b..e]
"""
"""Templates over segments for each table of clusters."""

LEXICON_TEMPLATES = """
lexicon({name})({column})[-2..2]
lexicon({name},band|rank)({column})[0]
lexicon({name},set)({column})[-2..2]
lexicon({name},set)({column})[-1]/lexicon({name},set)({column})[0]
lexicon({name},set)({column})[0]/lexicon({name},set)({column})[1]
"""
"""Candidates as Iwakura & Okamoto 2008 take them, and what words may be together with their neighbours."""

SEGMENT_LEXICON_TEMPLATES = """
lexicon({name},set)({column})[b]
lexicon({name},set)({column})[e]
lexicon({name},set)({column})[b-1]
lexicon({name},set)({column})[e+1]
lexicon({name})({column})[i]
lexicon({name},band)({column})[b]
lexicon({name},band)({column})[e]
lexicon({name},set)({column})[b]/lexicon({name},set)({column})[e]
lexicon({name},set)({column})[b-1]/lexicon({name},set)({column})[b]
lexicon({name},set)({column})[e]/lexicon({name},set)({column})[e+1]
lexicon({name},best)({column})[b..e]
"""
"""Templates over segments for each lexicon."""
