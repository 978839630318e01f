// The script of /docs: loads the OpenAPI document, asks for a token if one is required, and displays the reference.

'use strict'

/**
 * @typedef {object} Content an OpenAPI document as Waypost writes it
 * @property {{ title: string, description: string, [key: string]: unknown }} info
 * @property {{ name: string }[]} tags
 * @property {Record<string, Record<string, { tags: string[] }>>} paths
 * @property {Record<string, any>} components
 *
 * @typedef {{ slug: string, title: string, content: Content, count?: number }} Page
 * @typedef {{ destroy(): void, updateConfiguration(config: object): void }} Reference
 */

const page = {
  form: /** @type {HTMLFormElement} */ (document.querySelector('#sign-in')),
  problem: /** @type {HTMLElement} */ (document.querySelector('#problem')),
  signIn: /** @type {HTMLButtonElement} */ (document.querySelector('#authorize')),
  token: /** @type {HTMLInputElement} */ (document.querySelector('#token')),
}
const { clientId = '', redirectPath = '' } = /** @type {HTMLScriptElement} */ (document.currentScript).dataset
const redirectUri = new URL(redirectPath, location.href)

/** @param {string} [token] */
async function load(token) {
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` }
  const response = await fetch('openapi.json', { ...(headers && { headers }) })
  const body = await response.json()
  if (response.ok) {
    await draw(body, token)
    return
  }
  page.form.hidden = false
  page.signIn.hidden = !isSecureContext
  if (page.signIn.hidden) page.token.focus()
  else page.signIn.focus()
  if (token !== undefined || response.status !== 401) page.problem.textContent = body.detail
}

/** Loads the viewer. Not earlier, because its styles apply to the whole page. */
function loadViewer() {
  const script = document.createElement('script')
  script.src = 'docs/viewer.js'
  return new Promise((resolve, reject) => {
    script.addEventListener('load', resolve)
    script.addEventListener('error', reject)
    document.head.append(script)
  })
}

/**
 * Makes the viewer authorize as the client of the reference. Without https browsers have no SHA-256, so PKCE is not
 * possible.
 * @param {Content} content
 */
function prepareFlow(content) {
  const flow = content.components?.securitySchemes?.oauth2?.flows.authorizationCode
  if (flow === undefined || !isSecureContext) return
  flow['x-scalar-client-id'] = clientId
  flow['x-scalar-redirect-uri'] = redirectUri.href
  flow['x-usePkce'] = 'SHA-256'
}

// Browsers need seconds to display more.
const maxOperations = 100

/**
 * Divides a large API into pages: an overview and one page per tag. Returns undefined if one page is enough.
 * @param {Content} content
 * @returns {Page[] | undefined}
 */
function makePages(content) {
  const paths = Object.entries(content.paths)
  /** @param {typeof paths} some */
  const count = (some) => some.reduce((sum, [, operations]) => sum + Object.keys(operations).length, 0)
  if (count(paths) <= maxOperations || content.tags.length < 2) return undefined
  const slugs = new Set(['overview'])
  const pages = content.tags.map((tag) => {
    const own = paths.filter(([, operations]) => Object.values(operations)[0]?.tags[0] === tag.name)
    const part = { ...content, tags: [tag], paths: Object.fromEntries(own) }
    const slug = makeSlug(tag.name, slugs)
    return { count: count(own), slug, title: tag.name, content: { ...part, components: pickComponents(part) } }
  })
  const list = pages.map(
    ({ title, slug, count: operations }) =>
      `- [${escapeMarkdown(title)}](#${slug}): ${operations}${operations === 1 ? ' operation' : ' operations'}`,
  )
  const description = `${content.info.description}\n\nThe operations by path:\n\n${list.join('\n')}`
  const info = { ...content.info, description }
  const { securitySchemes } = content.components
  const overview = { ...content, info, tags: [], paths: {}, components: { securitySchemes } }
  return [{ slug: 'overview', title: 'Overview', content: overview }, ...pages]
}

/**
 * @param {string} name
 * @param {Set<string>} taken the slugs in use; the new one is added
 */
function makeSlug(name, taken) {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  const plain = text || 'operations'
  let slug = plain
  for (let count = 2; taken.has(slug); count++) slug = `${plain}-${count}`
  taken.add(slug)
  return slug
}

/** @param {string} text */
function escapeMarkdown(text) {
  return text.replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`)
}

/**
 * Picks the components that a page refers to, directly or indirectly.
 * @param {Content} content
 */
function pickComponents({ paths, components: { securitySchemes, ...all } }) {
  /** @type {Content['components']} */
  const picked = { securitySchemes }
  const texts = [JSON.stringify(paths)]
  for (const text of texts) {
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"/]+)"/g)) {
      const component = all[kind]?.[name]
      if (component === undefined || picked[kind]?.[name] !== undefined) continue
      picked[kind] = { ...picked[kind], [name]: component }
      texts.push(JSON.stringify(component))
    }
  }
  return picked
}

/**
 * @param {Content} content
 * @param {string} [token]
 */
async function draw(content, token) {
  await loadViewer()
  page.form.hidden = true
  const { title } = content.info
  document.title = title === 'API' ? 'API reference' : `${title}: API reference`
  // These are for tools: the version changes with each change of the API, the contact repeats the title, and no licence
  // is stated.
  for (const name of ['version', 'contact', 'license']) delete content.info[name]
  prepareFlow(content)
  const pages = makePages(content)
  let reference = show(content, pages, token)
  // Links of the overview, and navigation back. The viewer does not follow links to other pages.
  addEventListener('hashchange', () => {
    const wanted = location.hash.slice(1).split('/')[0]
    const shown = document.querySelector('#reference .introduction-section')?.id.split('/')[0]
    if (wanted === shown || pages?.some(({ slug }) => slug === wanted) !== true) return
    const typed = readToken() || token
    reference.destroy()
    reference = show(content, pages, typed)
    scrollTo(0, 0)
  })
}

function readToken() {
  /** @type {HTMLInputElement | null} */
  const field = document.querySelector('#reference input[placeholder="Token"]')
  return field?.value
}

/**
 * @param {Content} content
 * @param {Page[] | undefined} pages
 * @param {string | undefined} token
 * @returns {Reference}
 */
function show(content, pages, token) {
  /** @type {{ preferredSecurityScheme: string, securitySchemes?: object }} */
  const authentication = { preferredSecurityScheme: 'bearer' }
  if (token !== undefined) authentication.securitySchemes = { bearer: { token } }
  /** @type {{ reference?: Reference }} */
  const viewer = {}
  const config = {
    ...(pages === undefined ? { content } : { sources: pages.map(({ count: _, ...source }) => source) }),
    authentication,
    // Keep the token when the page changes.
    onDocumentSelect() {
      const typed = readToken()
      if (!typed || viewer.reference === undefined) return
      authentication.securitySchemes = { bearer: { token: typed } }
      viewer.reference.updateConfiguration({ ...config })
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
  const { Scalar } = /** @type {{ Scalar: { createApiReference(at: string, config: object): Reference } }} */ (
    /** @type {unknown} */ (globalThis)
  )
  viewer.reference = Scalar.createApiReference('#reference', config)
  return viewer.reference
}

/** @param {ArrayBuffer | Uint8Array<ArrayBuffer>} bytes */
function encode(bytes) {
  const text = btoa(String.fromCodePoint(...new Uint8Array(bytes)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function makeSecret() {
  return encode(crypto.getRandomValues(new Uint8Array(32)))
}

/**
 * Returns the address of a window; undefined while it shows a page of another origin.
 * @param {Window} opened
 */
function addressOf(opened) {
  try {
    return opened.location.href
  } catch {
    return undefined
  }
}

/**
 * Waits for the response of the authorization window; undefined if the user closes it before.
 * @param {Window} opened
 */
async function waitFor(opened) {
  while (!opened.closed) {
    const href = addressOf(opened)
    if (href?.startsWith(`${redirectUri.href}?`)) {
      opened.close()
      return new URL(href).searchParams
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 100)
    })
  }
  return undefined
}

async function authorize() {
  const verifier = makeSecret()
  const state = makeSecret()
  const challenge = encode(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  const shared = { client_id: clientId, redirect_uri: redirectUri.href }
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const query = new URLSearchParams({ response_type: 'code', ...shared, ...pkce, state })
  const opened = window.open(`authorization/authorize?${query}`, 'authorize', 'width=480,height=720')
  if (opened === null) throw new Error('The browser blocked the window. Allow pop-ups for this page.')
  const answer = await waitFor(opened)
  if (answer === undefined) return
  if (answer.get('state') !== state) throw new Error('The window returned the response to another request.')
  if (answer.has('error')) throw new Error(answer.get('error_description') ?? '')
  const code = answer.get('code') ?? ''
  const form = { grant_type: 'authorization_code', ...shared, code, code_verifier: verifier }
  const response = await fetch('authorization/token', { method: 'POST', body: new URLSearchParams(form) })
  const { access_token: token, error_description: description } = await response.json()
  if (token === undefined) throw new Error(description)
  await load(token)
}

function fail() {
  page.form.hidden = false
  page.problem.textContent = 'The server does not respond.'
}

page.form.addEventListener('submit', (event) => {
  event.preventDefault()
  page.problem.textContent = ''
  load(page.token.value.trim()).catch(fail)
})
page.signIn.addEventListener('click', () => {
  page.problem.textContent = ''
  authorize().catch((error) => {
    if (error instanceof TypeError) fail()
    else page.problem.textContent = error.message
  })
})
load().catch(fail)
