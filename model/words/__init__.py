"""Words: tokenised from texts, numbered, hashed to buckets, and how probable they are."""
