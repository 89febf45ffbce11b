"""Campaigns that try to break goldmeter: kills, damage, hostile servers and files. `make torture` runs them."""
