"""How often intervals contain the truth and tests raise a false alarm: enumerated or simulated, with seeds."""
