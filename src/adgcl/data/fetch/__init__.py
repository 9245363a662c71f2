"""Getting data: folders, downloads and archives."""
