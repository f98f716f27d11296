"""TravelPlanner (Xie et al. 2024): plan a trip that keeps to a budget and to a sandbox of real places."""
