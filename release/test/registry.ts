import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { list } from 'tar'

async function readManifest(tarball: string): Promise<{ name: string; version: string }> {
  const chunks: Buffer[] = []
  await list({
    file: tarball,
    onReadEntry(entry) {
      if (!/^[^/]+\/package\.json$/.test(entry.path)) return
      entry.on('data', (chunk: Buffer) => chunks.push(chunk))
    },
  })
  return JSON.parse(Buffer.concat(chunks).toString())
}

/** A registry of npm's kind on this machine, with these tarballs and nothing else. */
export async function startRegistry(tarballs: readonly string[]) {
  const packages = new Map<string, object>()
  const files = new Map(tarballs.map((path) => [`/files/${basename(path)}`, path]))
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    const file = files.get(path)
    const described = packages.get(path.slice(1))
    if (file !== undefined) response.end(readFileSync(file))
    else if (described !== undefined) response.end(JSON.stringify(described))
    else response.writeHead(404).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const path of tarballs) {
    const manifest = await readManifest(path)
    const { name, version } = manifest
    const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
    const dist = { tarball: `${url}/files/${basename(path)}`, integrity }
    packages.set(name, {
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { ...manifest, dist } },
    })
  }
  return { url, close: () => server.close() }
}
