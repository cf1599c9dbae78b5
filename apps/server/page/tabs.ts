import { byId } from '../overview/element.ts'

/** Which tab each key leads to, of `count`; undefined where a key leads nowhere. */
function targetOf(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (index + 1) % count
  if (key === 'ArrowLeft') return (index + count - 1) % count
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : undefined
}

/**
 * Makes the tabs work as the ARIA practices describe: one stop of the tab key, arrows between them.
 * `onSelect` hears the index of the tab that is selected.
 */
export function startTabs(onSelect: (index: number) => void): void {
  const tabs = [...document.querySelectorAll<HTMLButtonElement>('[role="tab"]')]

  function select(selected: number): void {
    for (const [index, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(index === selected))
      tab.tabIndex = index === selected ? 0 : -1
    }
    byId('program').setAttribute('aria-labelledby', `tab-${selected}`)
    onSelect(selected)
  }

  // It may be wider than the screen.
  byId('program').tabIndex = 0
  for (const [index, tab] of tabs.entries()) {
    tab.disabled = false
    tab.addEventListener('click', () => select(index))
    tab.addEventListener('keydown', (event) => {
      const target = targetOf(event.key, index, tabs.length)
      if (target === undefined) return
      event.preventDefault()
      tabs[target]?.focus()
      select(target)
    })
  }
}
