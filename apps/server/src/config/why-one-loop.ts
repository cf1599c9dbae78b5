/** Why this process can have one event loop only, as the end of a sentence; undefined where it can have more. */
export function whyOneLoop(): string | undefined {
  // Only there the kernel spreads the connections of a port over several listeners.
  if (process.platform !== 'linux') return `on ${process.platform}, where loops cannot share a port`
  // Undefined without --permission.
  const { permission } = process as Partial<Pick<NodeJS.Process, 'permission'>>
  return permission?.has('worker') === false ? 'without --allow-worker' : undefined
}
