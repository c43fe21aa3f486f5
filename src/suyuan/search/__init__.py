"""Search policy: plan, limits, failover, fan-out, fusion."""
