"""Finding plug-ins and building them from specs. Nothing here knows what a plug-in does."""
