"""Traffic scenes as a driver sees them: road, cars, people, signals, obstacles, and the town around."""
