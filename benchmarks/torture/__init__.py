"""Campaigns that try to break metrack: kills, power cuts, damage, hostile input, load. ``make torture`` runs them all.

A campaign is one file with one subclass of :class:`torture.campaign.Campaign`; ``CAMPAIGNS`` in :mod:`torture.register`
lists them.
"""
