"""The variational family: fixvoc-vb, fixvoc-hybrid and infvoc."""
