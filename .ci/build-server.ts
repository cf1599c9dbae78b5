import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'

// Builds the server before its command line runs: silent unless it fails, so that all that is
// printed is the command's own.

/** Leaves each module a file of its own, as the compiler does. */
const toJs = {
  name: 'to-js',
  setup({ onResolve }: import('esbuild').PluginBuild) {
    onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/\.ts$/, '.js'), external: true },
    )
  },
}

/** Builds with what `start` installs: without types, and without the compiler that checks them. */
async function buildUnchecked(): Promise<void> {
  const { build } = await import('esbuild')
  const options = {
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
  } as const
  for (const folder of ['packages/contract', 'apps/server']) {
    const entryPoints = globSync(`${folder}/src/**/*.ts`).filter((file) => !file.endsWith('.d.ts'))
    await build({ ...options, entryPoints, outdir: `${folder}/dist`, plugins: [toJs] })
  }
  await build({
    ...options,
    entryPoints: ['packages/client/src/index.ts', 'packages/client/src/rest.ts'],
    outdir: 'packages/client/dist',
    alias: { '@plant-store/contract': './packages/contract/dist/index.js' },
  })
  await import('../apps/server/page/build.ts')
}

if (existsSync('node_modules/turbo')) {
  const { status, output } = spawnSync(
    'turbo',
    ['run', 'build', '--filter=@plant-store/server', '--output-logs=errors-only'],
    { shell: process.platform === 'win32' },
  )
  if (status !== 0) process.stderr.write(output?.join('') ?? 'turbo cannot be run\n')
  process.exitCode = status ?? 1
} else {
  await buildUnchecked()
}
