/** What is released: one commit of this repository as one version. */
export interface Release {
  readonly version: string
  /** The full hash; ends in `-dirty` where files differ from it. */
  readonly commit: string
  /** When the commit was made, in Unix seconds: the time of every file in what is built. */
  readonly epoch: number
  /** The platforms to build for, such as `linux-x64`; those that a part does not know are no matter of it. */
  readonly platforms: readonly string[]
  /** The folder of what is released. */
  readonly out: string
  /** A folder for what is needed on the way, removed afterwards. */
  readonly work: string
}

/** A way in which the release is installed. */
export interface Part {
  readonly name: PartName
  /** Gives the names of the files that it has written in `out`. */
  build(release: Release): Promise<readonly string[]>
}

export const PART_NAMES = ['npm', 'archives', 'deb', 'image'] as const

export type PartName = (typeof PART_NAMES)[number]
