"""Files to raw records to documents, damaged or not: every record becomes a document or a dead
letter.
"""
