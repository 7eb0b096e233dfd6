"""The graphs that programs share, and the runners that execute them."""
