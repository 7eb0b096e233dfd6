"""What words are: cut from texts, numbered, hashed to buckets, and how probable their spelling
is.
"""
