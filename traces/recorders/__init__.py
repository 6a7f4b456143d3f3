"""The programs that recorded the traces in this folder's parent, one module or package per session."""
