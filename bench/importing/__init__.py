"""Getting traces in: what a trace holds in a few words. Reading is in bench/traces, removing secrets in bench/redaction."""
