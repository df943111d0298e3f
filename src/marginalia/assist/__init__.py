"""Reading assistance: what is hard in a text for a kind of reader, what could be said instead, and why."""
