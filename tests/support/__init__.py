"""What tests share: a browser, a running studio, samples, the public toolkits."""
