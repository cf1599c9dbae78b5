const numbers = new Intl.NumberFormat('en-US')

/** `1,234,567 plants`, `1 plant` */
export function describeCount(count: number, noun: string): string {
  return `${numbers.format(count)} ${noun}${count === 1 ? '' : 's'}`
}
