"""An index over the campaigns of a site, in a database: disposable, built from the logs. ``index.Index`` is the way in."""
