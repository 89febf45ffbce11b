"""String presence normalized: 1 if the response contains a reference, whatever the case and punctuation of both."""

from goldmeter.metrics.lexical.string_presence import StringPresence


class StringPresenceNormalized(StringPresence):
    """`string_presence` on the texts of the normalize stage, a metric of its own: one run has both."""

    normalize: bool = True
