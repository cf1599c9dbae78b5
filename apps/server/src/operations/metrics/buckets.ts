/**
 * Upper bounds in seconds, from a commit on a fast disk (0.1 ms) to the time at which callers give
 * up. Three to four steps a decade tell a percentile to within a third of its value.
 */
export const DURATION_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
