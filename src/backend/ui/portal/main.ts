import '@mantine/core/styles.css'
import '../styles.css'
import '../build.css'
import './portal.css'
import { setNonce } from 'get-nonce'
import { nonce } from '../config.ts'
import { isReturning, leave, startSession } from '../session/session.ts'
import { portal } from './config.ts'
import { isExpected, rememberVisitor, startProblem } from './visitor.ts'

setNonce(nonce) // for react-remove-scroll, which inserts styles

document.title = portal.service
const element = document.querySelector('#root')!

/** Unlike the backend, the portal also has pages for visitors who are not signed in. */
async function start(): Promise<void> {
  // The server may be reached by several names; only one of them can sign in.
  if (!portal.isDevelopment && location.origin !== portal.origin)
    return location.replace(portal.origin + location.pathname + location.search)
  if (isReturning()) {
    const started = await startSession()
    if (started.state === 'leaving') return undefined
    if (started.state === 'window') {
      const { showStartPage } = await import('../shell/start-page.tsx')
      return showStartPage(element, { isWindow: true })
    }
    rememberVisitor(started.state === 'signed-in')
    if (started.state === 'failed' && started.error !== 'login_required') startProblem.set(started)
  } else if (isExpected() && isSecureContext) {
    await leave('', { prompt: 'none' }) // comes back signed in, or with the error login_required
    return undefined
  }
  const { showPortal } = await import('./app.tsx')
  return showPortal(element)
}

void start()
