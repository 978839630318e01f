import { Button } from '@mantine/core'
import { lazyRouteComponent } from '@tanstack/react-router'
import { EmptyState } from '../components/empty-state.tsx'
import { useStore } from '../session/store.ts'
import { sessionStore } from '../session/session.ts'
import { portal } from './config.ts'
import type { PortalPage } from './pages.ts'
import { shell } from './strings/shell.ts'
import { register, signIn } from './visitor.ts'

/** Shows a page, or asks visitors to sign in. */
export function gate(page: PortalPage) {
  const Page = lazyRouteComponent(page.load, 'Page')
  Gated.preload = async () => Page.preload?.()
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

/** Shown instead of a page that belongs to an account. */
export function SignInFirst({ title }: { readonly title: string }) {
  return <EmptyState isPage title={title} text={shell.signInFirst} action={<SignInButtons />} />
}

/** Signing in, and creating an account where the server allows it. */
export function SignInButtons() {
  return (
    <div className="portal-sign-in">
      <Button onClick={signIn}>{shell.signIn}</Button>
      {portal.canRegister ? (
        <Button variant="default" onClick={register}>
          {shell.register}
        </Button>
      ) : null}
    </div>
  )
}
