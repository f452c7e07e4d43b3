"""The pseudonymous client of every row of a block.

Here: computing it once per distinct client, with a shortcut for IPv4 addresses, which are hashed as
logged. Not here: what a pseudonym is (`pseudonyms`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.logs.privacy.pseudonyms import KeyRing, Spelling, hmac_heads
from temporal_assets.logs.read.byte_values import DOT, ZERO
from temporal_assets.logs.read.encode import Codes, encode, encode_keys, take, to_list
from temporal_assets.logs.read.records import Bytes, Column, Offsets, Records
from temporal_assets.settings import Privacy

_AGENT_BITS: Final = 32


class Clients:
    """Pseudonyms for the lines of logs; threads may share it."""

    def __init__(self, keys: KeyRing, privacy: Privacy) -> None:
        self._keys = keys
        self._spelling = Spelling(privacy)
        self._by_agent = privacy.client == "address+agent"
        self._plain_counts = privacy.mask_ipv4_bits == 0
        """True if a plain IPv4 address is hashed just as it is written."""

    def of_rows(self, records: Records, rows: Offsets, days: NDArray[np.int32]) -> Offsets:
        """Return the client of each of `rows`, under the key of its day."""
        address = encode(records.address, rows)
        who, distinct = address.codes, address.distinct
        agent: Column | None = None
        if self._by_agent and records.agent is not None:
            who, distinct, agent = self._with_agents(address.codes, distinct, records.agent, rows)
        periods = self._keys.period(days)
        client = np.empty(len(rows), np.int64)
        for period in distinct_numbers(periods).tolist():
            chosen = periods == period
            codes, present = encode_keys(who[chosen].astype(np.int64))
            client[chosen] = self._pseudonyms_of(period, distinct, agent, present)[codes]
        return client

    @staticmethod
    def _with_agents(
        codes: Codes, address: Column, agents: Column, rows: Offsets
    ) -> tuple[Codes, Column, Column]:
        """Return distinct pairs of address and agent as two columns of equal length."""
        agent = encode(agents, rows)
        pair, keys = encode_keys(
            (codes.astype(np.int64) + 1) << _AGENT_BITS | (agent.codes.astype(np.int64) + 1)
        )
        address_of, agent_of = (keys >> _AGENT_BITS) - 1, (keys & (2**_AGENT_BITS - 1)) - 1
        return pair, take(address, address_of), take(agent.distinct, agent_of)

    def _pseudonyms_of(
        self, period: int, address: Column, agent: Column | None, present: Offsets
    ) -> Offsets:
        """Return pseudonyms of the distinct clients in `present`; -1 is a line without address."""
        chosen = take(address, present)
        messages = to_list(chosen)
        is_plain = np.zeros(len(present), np.bool_)
        if self._plain_counts:
            is_plain = plain_ipv4(chosen.data, chosen.start, chosen.stop)
        for i in np.flatnonzero(~is_plain).tolist():
            messages[i] = self._spelling.masked(messages[i])
        if agent is not None:
            agents = to_list(take(agent, present))
            messages = [b"\0".join(pair) for pair in zip(messages, agents, strict=True)]
        return hmac_heads(self._keys.key(period), messages)


@loop
def plain_ipv4(data: Bytes, start: Offsets, stop: Offsets) -> NDArray[np.bool_]:
    """Return whether each value is four decimal numbers below 256 without leading zeros."""
    plain = np.zeros(start.size, np.bool_)
    for n in range(start.size):
        parts, digits, number = 1, 0, 0
        good = start[n] >= 0
        for i in range(start[n], stop[n]):
            byte = int(data[i])
            if byte == DOT and digits:
                parts, digits, number = parts + 1, 0, 0
                continue
            digit = byte - ZERO
            good &= 0 <= digit <= 9 and not (digits and number == 0)
            digits += 1
            number = number * 10 + digit
            good &= number < 256
            if not good:
                break
        plain[n] = good and parts == 4 and digits > 0
    return plain
