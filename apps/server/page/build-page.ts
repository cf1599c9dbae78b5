import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

export interface PageSources {
  /** The folder that gets the files; what was in it is removed. */
  readonly target: string
  /** The script and the style sheet. */
  readonly entryPoints: string[]
  /** The other files, as text by name. */
  readonly texts: Readonly<Record<string, string>>
  /** A comment that stays at the beginning of the script; none by default. */
  readonly licence?: string
}

/** Builds a page for browsers into a folder. */
export async function buildPage(sources: PageSources): Promise<void> {
  const { target, entryPoints, texts, licence = '' } = sources
  const { outputFiles } = await build({
    entryPoints,
    outdir: target,
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    banner: { js: licence },
    logLevel: 'warning',
  })
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  for (const { path, contents } of outputFiles)
    writeFileSync(join(target, basename(path)), contents)
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(target, name), text)
}
