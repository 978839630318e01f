import { docsClientId, docsRedirectPath } from '../../auth/index.ts'

/** Loads the document, asks for a token if there must be one, and draws the reference. */
export const pageScript = `'use strict'
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

async function draw(content, token) {
  await loadViewer()
  form.hidden = true
  document.title = content.info.title + ': API reference'
  // That nobody stated a licence is for tools.
  delete content.info.license
  prepareFlow(content)
  Scalar.createApiReference('#reference', {
    content,
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
    authentication: {
      preferredSecurityScheme: 'bearer',
      ...(token === undefined ? {} : { securitySchemes: { bearer: { token } } }),
    },
  })
}

function encode(bytes) {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function makeSecret() {
  return encode(crypto.getRandomValues(new Uint8Array(32)))
}

// Undefined while the window shows a page of somebody else.
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
  if (opened === null) throw new Error('The browser did not open a window: let this page open windows.')
  const answer = await waitFor(opened)
  if (answer === undefined) return
  if (answer.get('state') !== state) throw new Error('The window brought back the answer to another request.')
  if (answer.has('error')) throw new Error(answer.get('error_description'))
  const form = { grant_type: 'authorization_code', ...shared, code: answer.get('code'), code_verifier: verifier }
  const response = await fetch('authorization/token', { method: 'POST', body: new URLSearchParams(form) })
  const { access_token: token, error_description: description } = await response.json()
  if (token === undefined) throw new Error(description)
  await load(token)
}

function fail() {
  form.hidden = false
  problem.textContent = 'The server does not answer.'
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
