import { Button } from '@mantine/core'
import { createRoot } from 'react-dom/client'
import { config, uiPath } from '../config.ts'
import { leave } from '../session/session.ts'
import { Provider } from './provider.tsx'
import { startTexts } from '../session/sign-in-texts.ts'

interface StartPageProps {
  readonly problem?: { readonly message: string; readonly hint?: string }
  readonly canSignIn?: boolean
  /** Whether this is the window that was opened to sign in again. */
  readonly isWindow?: boolean
}

/** Shows why the user is not signed in, instead of the app. */
export function showStartPage(element: Element, props: StartPageProps): void {
  createRoot(element).render(<StartPage {...props} />)
}

function StartPage({ problem, canSignIn = false, isWindow = false }: StartPageProps) {
  return (
    <Provider>
      <main className="start">
        <h1>{isWindow ? config.service : startTexts.problem}</h1>
        <p role={problem === undefined ? 'status' : 'alert'}>{isWindow ? startTexts.window : problem?.message}</p>
        {problem?.hint === undefined ? null : <p className="soft">{problem.hint}</p>}
        {canSignIn ? (
          <div className="start-actions">
            <Button onClick={() => void leave(`${uiPath}/`)}>{startTexts.signIn}</Button>
            <Button variant="default" onClick={() => void leave(`${uiPath}/`, { prompt: 'select_account' })}>
              {startTexts.other}
            </Button>
          </div>
        ) : null}
      </main>
    </Provider>
  )
}
