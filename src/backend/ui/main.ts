import '@mantine/core/styles.css'
import './styles.css'
import './build.css'
import './publish.css'
import './schema-editor.css'
import { setNonce } from 'get-nonce'
import { config, nonce } from './config.ts'
import { isReturning, startSession, type Started } from './session/session.ts'
import { startTexts } from './session/sign-in-texts.ts'

setNonce(nonce) // for react-remove-scroll, which inserts styles

document.title = `${config.service} · Waypost`
const element = document.querySelector('#root')!

/** Imports React only once it is needed, because signing in leaves this page and loads it again. */
async function start(): Promise<void> {
  // The server may be reached by several names; only one of them can sign in.
  if (!config.isDevelopment && location.origin !== config.origin)
    return location.replace(config.origin + location.pathname + location.search)
  if (isSecureContext && isReturning()) void loadApp() // while the code is redeemed
  const started: Started = isSecureContext ? await startSession() : { state: 'failed', message: startTexts.insecure }
  if (started.state === 'leaving') return undefined
  if (started.state === 'signed-in')
    return loadApp().then(([{ showApp }, { makeRouter }]) => showApp(element, makeRouter))
  const { showStartPage } = await import('./shell/start-page.tsx')
  return showStartPage(
    element,
    started.state === 'failed' ? { problem: explain(started), canSignIn: isSecureContext } : { isWindow: true },
  )
}

function loadApp() {
  return Promise.all([import('./shell/app.tsx'), import('./shell/router.tsx')])
}

function explain(problem: Extract<Started, { state: 'failed' }>) {
  if (problem.error !== 'invalid_scope') return problem
  return { message: startTexts.noScopes, hint: startTexts.noScopesHint }
}

void start()
