"""Bent inputs of every kind that is read: each works or is refused with an AdgclError, quickly and in little memory."""
