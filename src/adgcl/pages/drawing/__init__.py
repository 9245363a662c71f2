"""Pictures of molecules and graphs."""
