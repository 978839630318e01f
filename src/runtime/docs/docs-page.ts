import { docsClientId, docsRedirectPath } from '../../auth/index.ts'

// What /docs consists of beside its viewer. Addresses are relative, so that the page works below any prefix.

/** The page: a place for the viewer, and a form for the token where the reference is private. */
export const pageHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/page.css">
<script src="docs/page.js" defer></script>
</head>
<body>
<main id="reference"></main>
<form id="sign-in" hidden>
<h1>API reference</h1>
<p>This reference is private: it needs an access token of this API.</p>
<label for="token">Access token</label>
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required>
<p id="problem" role="alert"></p>
<button>Show the reference</button>
</form>
<noscript><p>This page needs JavaScript. The reference as data is <a href="openapi.json">openapi.json</a>.</p></noscript>
</body>
</html>
`

/** Where a window that was opened to authorize ends. The one that opened it reads the address and closes it. */
export const signedInHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Back to the API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
</head>
<body>
<main id="signed-in">
<h1>Back to the API reference</h1>
<p>This window closes by itself. If it stays, close it and authorize once more.</p>
</main>
</body>
</html>
`

/** Loads the document, asks for a token if there must be one, and draws the reference. */
export const pageScript = `'use strict'
const form = document.getElementById('sign-in')
const problem = document.getElementById('problem')

async function load(token) {
  const headers = token === undefined ? {} : { authorization: 'Bearer ' + token }
  const answer = await fetch('openapi.json', { headers })
  const body = await answer.json()
  if (answer.ok) return draw(body, token)
  form.hidden = false
  document.getElementById('token').focus()
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

// The reference authorizes as a client that every server knows. Without https there is no SHA-256 in a browser, so no PKCE.
function prepareFlow(content) {
  const flow = content.components?.securitySchemes?.oauth2?.flows.authorizationCode
  if (flow === undefined || !isSecureContext) return
  flow['x-scalar-client-id'] = '${docsClientId}'
  flow['x-scalar-redirect-uri'] = new URL('${docsRedirectPath.slice(1)}', location).href
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

function fail() {
  form.hidden = false
  problem.textContent = 'The server does not answer.'
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  problem.textContent = ''
  load(document.getElementById('token').value.trim()).catch(fail)
})
load().catch(fail)
`

export const pageCss = `body { margin: 0; font-family: system-ui, sans-serif; }
#sign-in, #signed-in, noscript p { box-sizing: border-box; width: min(24rem, 100% - 3rem); margin: 18vh auto 0; line-height: 1.5; }
#sign-in[hidden] { display: none; }
#sign-in h1, #signed-in h1 { margin: 0; font-size: 1.5rem; }
#sign-in label { display: block; margin-top: 1.5rem; font-weight: 600; }
#sign-in input, #sign-in button { box-sizing: border-box; width: 100%; padding: .6rem .75rem; font: inherit; border-radius: .4rem; }
#sign-in input { margin-top: .3rem; color: inherit; background: Field; border: 1px solid GrayText; }
#sign-in button { margin-top: .5rem; color: Canvas; background: CanvasText; border: 0; cursor: pointer; }
#problem { min-height: 1.5em; margin: .5rem 0 0; }

/* More statuses than fit beside the buttons go above them. */
#reference .response-card .scalar-card-header { flex-wrap: wrap; }
#reference .response-card .scalar-card-header-title { flex: 1 0 auto; max-width: 100%; }
#reference .response-card .scalar-card-header-title + * { margin-left: auto; }
/* On a phone it would lie over the address. */
@media (max-width: 767px) { .scalar-sidebar-toggle { display: none; } }
`
