"""The command line: options in, one library call, write."""
