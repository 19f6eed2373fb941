"""What the tracker and its runs gave before the redesign: boxes, states, events and text files that must not change."""
