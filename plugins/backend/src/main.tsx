import '@mantine/core/styles.css'
import './styles.css'
import { setNonce } from 'get-nonce'
import { createRoot } from 'react-dom/client'
import { config, nonce } from './config.ts'
import { startSession } from './session/session.ts'
import { strings } from './strings.ts'

setNonce(nonce) // for react-remove-scroll, which inserts styles

document.title = `${config.service} · Waypost`
const root = createRoot(document.querySelector('#root')!)

async function start(): Promise<void> {
  // The server may be reached by several names; only one of them can sign in.
  if (!config.isDevelopment && location.origin !== config.origin)
    return location.replace(config.origin + location.pathname + location.search)
  const { StartPage } = await import('./shell/start-page.tsx')
  if (!isSecureContext) return root.render(<StartPage problem={{ message: strings.start.insecure }} />)
  const started = await startSession()
  if (started.state === 'leaving') return undefined
  if (started.state === 'window') return root.render(<StartPage isWindow />)
  if (started.state === 'failed') return root.render(<StartPage problem={started} canSignIn />)
  const { App } = await import('./shell/app.tsx')
  return root.render(<App />)
}

void start()
