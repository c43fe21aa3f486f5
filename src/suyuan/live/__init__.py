"""What several workers share while they run, in Redis or Valkey; without it every worker is alone."""
