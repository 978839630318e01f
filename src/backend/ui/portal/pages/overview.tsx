import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { send } from '../../api/send.ts'
import { CopyText } from '../../components/copy.tsx'
import { issuer } from '../../config.ts'
import { sessionStore } from '../../session/session.ts'
import { useStore } from '../../session/store.ts'
import type { Client, List, Subscription } from '../api.ts'
import { portal } from '../config.ts'
import { SignInButtons } from '../sign-in.tsx'
import { pagesTexts } from '../shell-texts.ts'

const texts = {
  steps: 'Get started',
  done: 'Done',
  account: 'Create an account, or sign in',
  accountText: 'Your account owns your clients, tokens and subscriptions.',
  explore: 'Try a call',
  exploreText: 'The reference shows what each call needs and returns. Send calls from the browser with your own token.',
  client: 'Create a client for your program',
  clientText: 'With its id and secret, your program gets tokens by itself.',
  subscribe: 'Subscribe to events',
  subscribeText: 'The API sends events to your URL, signed with a secret that only you and the API know.',
  facts: 'Addresses',
  base: 'Base URL',
  tokenUrl: 'Token endpoint',
  openApi: 'OpenAPI document',
  metadata: 'OAuth metadata',
} as const

/** What the API is, and the steps from an account to a first call. */
export function Page() {
  const session = useStore(sessionStore)
  return (
    <div className="portal-overview">
      <header className="portal-hero">
        <h1 dir="auto">{portal.service}</h1>
        {portal.description === '' ? null : (
          <p className="portal-lead" dir="auto">
            {portal.description}
          </p>
        )}
        {session === undefined ? <SignInButtons /> : null}
      </header>
      <section aria-labelledby="steps">
        <h2 id="steps">{texts.steps}</h2>
        <Steps />
      </section>
      <section aria-labelledby="facts">
        <h2 id="facts">{texts.facts}</h2>
        <dl className="facts portal-facts">
          {[
            [texts.base, issuer],
            [texts.tokenUrl, `${issuer}/authorization/token`],
            ...(portal.docs === 'off' ? [] : [[texts.openApi, `${issuer}/openapi.json`]]),
            [texts.metadata, `${issuer}/.well-known/oauth-authorization-server`],
          ].map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <CopyText isMono value={value!} label={label!} />
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  )
}

/** Each step is one action; what is already done is marked. */
function Steps() {
  const session = useStore(sessionStore)
  const isUser = session?.scopes.includes('consumer') === true
  const clients = useQuery({
    queryKey: ['client', 'all'],
    queryFn: ({ signal }) => send<List<Client>>('GET', 'client', { signal }),
    enabled: isUser,
  })
  const subscriptions = useQuery({
    queryKey: ['subscription', 'first'],
    queryFn: ({ signal }) => send<List<Subscription>>('GET', 'subscription', { query: { limit: 1 }, signal }),
    enabled: isUser,
  })
  const hasClient = (clients.data?.entry.length ?? 0) > 0
  const hasSubscription = (subscriptions.data?.entry.length ?? 0) > 0
  return (
    <ol className="portal-steps">
      <Step number={1} title={texts.account} text={texts.accountText} isDone={session !== undefined} />
      {portal.docs === 'off' ? null : (
        <Step number={2} title={texts.explore} text={texts.exploreText}>
          <Button component={Link} to="/reference" variant="default">
            {pagesTexts.reference}
          </Button>
        </Step>
      )}
      <Step number={3} title={texts.client} text={texts.clientText} isDone={hasClient}>
        <Button component={Link} to="/clients" variant="default">
          {pagesTexts.clients}
        </Button>
      </Step>
      <Step number={4} title={texts.subscribe} text={texts.subscribeText} isDone={hasSubscription}>
        <Button component={Link} to="/events" variant="default">
          {pagesTexts.events}
        </Button>
      </Step>
    </ol>
  )
}

interface StepProps {
  readonly number: number
  readonly title: string
  readonly text: string
  readonly isDone?: boolean
  readonly children?: ReactNode
}

function Step({ number, title, text, isDone = false, children }: StepProps) {
  return (
    <li>
      <span className="portal-step-mark" data-done={isDone}>
        {isDone ? <Check size={14} aria-label={texts.done} /> : number}
      </span>
      <div>
        <h3>{title}</h3>
        <p className="soft">{text}</p>
        {children}
      </div>
    </li>
  )
}
