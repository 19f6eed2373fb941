"""The scripts of this folder run where the toolkits are installed; here nothing is collected from them."""

collect_ignore_glob = ["*.py"]
