"""Finding plug-ins and building them from specs. Nothing here depends on what a plug-in does."""
