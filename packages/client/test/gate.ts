export interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

/** What waits for `opened` goes on when `open` is called. */
export function createGate(): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
