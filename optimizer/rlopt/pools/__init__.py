"""Ways to serve each part of a job, estimated and priced; `build` puts them together as the frozen problem."""
