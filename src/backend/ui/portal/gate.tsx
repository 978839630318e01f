import { EmptyState } from '../components/empty-state.tsx'
import { lazyPage } from '../components/lazy-part.tsx'
import { useStore } from '../session/store.ts'
import { sessionStore } from '../session/session.ts'
import type { PortalPage } from './pages.ts'
import { SignInFirst } from './sign-in.tsx'
import { shellTexts as shell } from './shell-texts.ts'

/** Shows a page, or asks visitors to sign in. */
export function gate(page: PortalPage) {
  const Page = lazyPage(page.load)
  Gated.preload = Page.preload
  return Gated
  function Gated() {
    const session = useStore(sessionStore)
    const { audience, title } = page
    if (audience === 'everyone') return <Page />
    if (session === undefined) return <SignInFirst title={title} />
    // Without it, the account API refuses everything.
    if (audience !== 'users' && !session.scopes.includes('consumer'))
      return <EmptyState isPage title={shell.noConsumer} text={shell.noConsumerText} />
    return <Page />
  }
}
