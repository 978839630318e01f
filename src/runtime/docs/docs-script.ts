import { docsClientId, docsRedirectPath } from '../../auth/index.ts'

/** Loads the document, asks for a token if there must be one, and draws the reference. */
export const pageScript = String.raw`'use strict'
const form = document.getElementById('sign-in')
const problem = document.getElementById('problem')
const signIn = document.getElementById('authorize')
const clientId = '${docsClientId}'
const redirectUri = new URL('${docsRedirectPath.slice(1)}', location)

async function load(token) {
  const headers = token === undefined ? {} : { authorization: 'Bearer ' + token }
  const answer = await fetch('openapi.json', { headers })
  const body = await answer.json()
  if (answer.ok) return draw(body, token)
  form.hidden = false
  signIn.hidden = !isSecureContext
  if (signIn.hidden) document.getElementById('token').focus()
  else signIn.focus()
  if (token !== undefined || answer.status !== 401) problem.textContent = body.detail
}

// Only now: its styles are those of the whole page.
function loadViewer() {
  const script = document.createElement('script')
  script.src = 'docs/viewer.js'
  return new Promise((resolve, reject) => {
    script.onload = resolve
    script.onerror = reject
    document.head.append(script)
  })
}

// The viewer authorizes as the client of the reference. Without https a browser has no SHA-256, so there is no PKCE.
function prepareFlow(content) {
  const flow = content.components?.securitySchemes?.oauth2?.flows.authorizationCode
  if (flow === undefined || !isSecureContext) return
  flow['x-scalar-client-id'] = clientId
  flow['x-scalar-redirect-uri'] = redirectUri.href
  flow['x-usePkce'] = 'SHA-256'
}

// More would take the browser seconds to show.
const mostOperations = 100

// Pages of a large API: an overview, and one for each tag. Undefined where all fits on one page.
function makePages(content) {
  const paths = Object.entries(content.paths)
  const count = (some) => some.reduce((sum, [, operations]) => sum + Object.keys(operations).length, 0)
  if (count(paths) <= mostOperations || content.tags.length < 2) return undefined
  const slugs = new Set(['overview'])
  const pages = content.tags.map((tag) => {
    const own = paths.filter(([, operations]) => Object.values(operations)[0].tags[0] === tag.name)
    const page = { ...content, tags: [tag], paths: Object.fromEntries(own) }
    const slug = makeSlug(tag.name, slugs)
    return { count: count(own), slug, title: tag.name, content: { ...page, components: pickComponents(page) } }
  })
  const list = pages.map(
    ({ title, slug, count }) =>
      '- [' + escapeMarkdown(title) + '](#' + slug + '): ' + count + (count === 1 ? ' operation' : ' operations'),
  )
  const description = content.info.description + '\n\nThe operations by path:\n\n' + list.join('\n')
  const { securitySchemes } = content.components
  const overview = { ...content, info: { ...content.info, description }, tags: [], paths: {}, components: { securitySchemes } }
  return [{ slug: 'overview', title: 'Overview', content: overview }, ...pages]
}

function makeSlug(name, taken) {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || 'operations'
  let slug = plain
  for (let count = 2; taken.has(slug); count++) slug = plain + '-' + count
  taken.add(slug)
  return slug
}

function escapeMarkdown(text) {
  return text.replaceAll(/[\\\`*_[\]<>]/g, '\\$&')
}

// The components that a page refers to, directly or through others.
function pickComponents({ paths, components: { securitySchemes, ...all } }) {
  const picked = { securitySchemes }
  const texts = [JSON.stringify(paths)]
  for (const text of texts) {
    for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/([^"/]+)"/g)) {
      const component = all[kind]?.[name]
      if (component === undefined || picked[kind]?.[name] !== undefined) continue
      picked[kind] = { ...picked[kind], [name]: component }
      texts.push(JSON.stringify(component))
    }
  }
  return picked
}

async function draw(content, token) {
  await loadViewer()
  form.hidden = true
  document.title = content.info.title + ': API reference'
  // For tools: it changes with every change of the API, the contact is the title, and no licence is stated.
  for (const name of ['version', 'contact', 'license']) delete content.info[name]
  prepareFlow(content)
  const pages = makePages(content)
  let reference = show({ content, pages, token })
  // The links of the overview, and the way back: the viewer itself follows neither to another page.
  addEventListener('hashchange', () => {
    const wanted = location.hash.slice(1).split('/')[0]
    const shown = document.querySelector('#reference .introduction-section')?.id.split('/')[0]
    if (wanted === shown || pages?.some(({ slug }) => slug === wanted) !== true) return
    const typed = readToken() || token
    reference.destroy()
    reference = show({ content, pages, token: typed })
    scrollTo(0, 0)
  })
}

function readToken() {
  return document.querySelector('#reference input[placeholder="Token"]')?.value
}

function show({ content, pages, token }) {
  const authentication = {
    preferredSecurityScheme: 'bearer',
    ...(token === undefined ? {} : { securitySchemes: { bearer: { token } } }),
  }
  const config = {
    ...(pages === undefined ? { content } : { sources: pages.map(({ count, ...page }) => page) }),
    authentication,
    // A token counts on every page.
    onDocumentSelect() {
      const typed = readToken()
      if (!typed || reference === undefined) return
      authentication.securitySchemes = { bearer: { token: typed } }
      reference.updateConfiguration({ ...config })
    },
    theme: 'default',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    defaultOpenAllTags: true,
    documentDownloadType: 'json',
    orderSchemaPropertiesBy: 'preserve',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  }
  let reference
  reference = Scalar.createApiReference('#reference', config)
  return reference
}

function encode(bytes) {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function makeSecret() {
  return encode(crypto.getRandomValues(new Uint8Array(32)))
}

// Undefined while the window shows a page of another origin.
function addressOf(opened) {
  try {
    return opened.location.href
  } catch {}
}

// What the window brings back; undefined when it was closed before.
async function waitFor(opened) {
  while (!opened.closed) {
    const href = addressOf(opened)
    if (href?.startsWith(redirectUri.href + '?')) {
      opened.close()
      return new URL(href).searchParams
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function authorize() {
  const verifier = makeSecret()
  const state = makeSecret()
  const challenge = encode(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  const shared = { client_id: clientId, redirect_uri: redirectUri.href }
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const query = new URLSearchParams({ response_type: 'code', ...shared, ...pkce, state })
  const opened = window.open('authorization/authorize?' + query, 'authorize', 'width=480,height=720')
  if (opened === null) throw new Error('The browser blocked the window. Allow pop-ups for this page.')
  const answer = await waitFor(opened)
  if (answer === undefined) return
  if (answer.get('state') !== state) throw new Error('The window returned the response to another request.')
  if (answer.has('error')) throw new Error(answer.get('error_description'))
  const form = { grant_type: 'authorization_code', ...shared, code: answer.get('code'), code_verifier: verifier }
  const response = await fetch('authorization/token', { method: 'POST', body: new URLSearchParams(form) })
  const { access_token: token, error_description: description } = await response.json()
  if (token === undefined) throw new Error(description)
  await load(token)
}

function fail() {
  form.hidden = false
  problem.textContent = 'The server does not respond.'
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  problem.textContent = ''
  load(document.getElementById('token').value.trim()).catch(fail)
})
signIn.addEventListener('click', () => {
  problem.textContent = ''
  authorize().catch((error) => {
    if (error instanceof TypeError) fail()
    else problem.textContent = error.message
  })
})
load().catch(fail)
`
