const nobodyWakes = new Int32Array(new SharedArrayBuffer(4))

/** Blocks this thread, as a slow fsync does. */
export function block(ms: number): void {
  if (ms > 0) Atomics.wait(nobodyWakes, 0, 0, ms)
}
