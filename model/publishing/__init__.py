"""From candidates to published versions, and the store that keeps them: files of a folder, or
objects of a bucket.
"""
