import { Button } from '@mantine/core'
import { EmptyState } from '../components/empty-state.tsx'
import { portal } from './config.ts'
import { register, signIn } from './visitor.ts'
import { shellTexts as shell } from './shell-texts.ts'

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
