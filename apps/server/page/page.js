const darkness = matchMedia('(prefers-color-scheme: dark)')

function followColorScheme() {
  document.documentElement.classList.toggle('dark-mode', darkness.matches)
}

followColorScheme()
darkness.addEventListener('change', followColorScheme)

/** The page would round the bounds of an int64; the description states them exactly. */
function dropInexactBound(key, value) {
  const isBound = key === 'minimum' || key === 'maximum'
  return isBound && !Number.isSafeInteger(value) ? undefined : value
}

/** The document, with this server as its base address: the page may call no other. */
async function readDocument() {
  const response = await fetch('openapi.json')
  const document = JSON.parse(await response.text(), dropInexactBound)
  const url = new URL('.', location.href).href.replace(/\/$/, '')
  return { ...document, servers: [{ ...document.servers[0], url }] }
}

globalThis.SwaggerUIBundle({
  spec: await readDocument(),
  domNode: document.getElementById('reference'),
  docExpansion: 'full',
  defaultModelExpandDepth: 2,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
})
