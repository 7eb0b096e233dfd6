"""What only reproductions of the papers need; the registries alone name it."""
