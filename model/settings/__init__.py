"""The settings of programs: records of options, and settings made of them."""
