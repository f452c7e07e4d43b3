"""Characters as numbers, for the compiled loops over the bytes of logs.

Not here: the loops (`tokenize`, `times`, `rewrite`), and their decorators
(`core.numerics.compiled`).

The cache on disk knows when the file of a loop changes, not when that of a part does: after work on
a part in another file, remove `temporal_assets/logs/__pycache__`.
"""

from __future__ import annotations

from typing import Final

from temporal_assets.core.numerics.compiled import constant

NUL: Final = constant(0)
NEWLINE: Final = constant(10)
RETURN: Final = constant(13)
TAB: Final = constant(9)
SPACE: Final = constant(32)
QUOTE: Final = constant(34)
HASH: Final = constant(35)
PERCENT: Final = constant(37)
PLUS: Final = constant(43)
COMMA: Final = constant(44)
MINUS: Final = constant(45)
DOT: Final = constant(46)
SLASH: Final = constant(47)
ZERO: Final = constant(48)
NINE: Final = constant(57)
COLON: Final = constant(58)
QUESTION: Final = constant(63)
OPEN: Final = constant(91)
BACKSLASH: Final = constant(92)
CLOSE: Final = constant(93)
BRACE: Final = constant(123)
UNBRACE: Final = constant(125)
