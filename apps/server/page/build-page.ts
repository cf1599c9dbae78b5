import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
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

/** `content` is text or UTF-8; the compressed forms are the same on every machine. */
function writeForms(path: string, content: string | Uint8Array): void {
  const bytes = Buffer.from(content)
  writeFileSync(path, bytes)
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
}

/** Builds a page for browsers into a folder: each file as it is, as `.gz` and as `.br`. */
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
  for (const { path, contents } of outputFiles) writeForms(join(target, basename(path)), contents)
  for (const [name, text] of Object.entries(texts)) writeForms(join(target, name), text)
}
