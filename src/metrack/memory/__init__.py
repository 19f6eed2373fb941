"""What the tracker remembers: which samples it takes, and which of them it keeps."""
