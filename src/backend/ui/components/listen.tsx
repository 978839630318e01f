import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { followEvent, type Received } from '../api/follow.ts'
import { makeStore, useStore } from '../session/store.ts'
import { announce } from './announce.tsx'
import { State } from './badge.tsx'
import { CommandHint } from './copy.tsx'
import { ProblemAlert } from './problem.tsx'
import { RelativeTime } from './time.tsx'

const texts = {
  title: 'Listen',
  start: 'Listen',
  stop: 'Stop listening',
  text: 'Shows deliveries here while you call the API.',
  on: 'Listening, even while you open other pages.',
  connecting: 'Connecting…',
  delivered: (event: string) => `${event} delivered`,
  valid: 'signature ok',
  invalid: (problem: string) => `signature ${problem}`,
  bodyOf: (id: string) => `Body of ${id}`,
} as const

/** The event that is listened to, also while other pages are open: of one event, since browsers open few connections. */
interface Listening {
  readonly event: string
  readonly isConnected: boolean
  readonly error?: Error
  /** The newest first. In memory only, because they may contain personal data. */
  readonly received: readonly Received[]
}

const store = makeStore<Listening | undefined>(undefined)
let stopping = new AbortController()
const maxShown = 20

function start(event: string): void {
  stop()
  stopping = new AbortController()
  const { signal } = stopping
  const set = (part: Partial<Listening>) => {
    const current = store.get()
    if (!signal.aborted && current !== undefined) store.set({ ...current, ...part })
  }
  store.set({ event, isConnected: false, received: [] })
  const follower = {
    onConnected: (isConnected: boolean) => set({ isConnected }),
    onLines(lines: readonly Received[]) {
      set({ received: [...lines.toReversed(), ...(store.get()?.received ?? [])].slice(0, maxShown) })
      announce(texts.delivered(event))
    },
  }
  followEvent(event, signal, follower).catch((error: Error) => set({ error, isConnected: false }))
}

function stop(): void {
  stopping.abort()
  store.set(undefined)
}

/** Shows the deliveries of an event in the page, as `event:listen` does in a terminal. Only in `dev`. */
export function Listen({ event }: { readonly event: string }) {
  const state = useStore(store)
  const own = state?.event === event ? state : undefined
  return (
    <section className="stack-small">
      <h2>{texts.title}</h2>
      <div className="listen-row">
        {own === undefined ? (
          <Button variant="default" onClick={() => start(event)}>
            {texts.start}
          </Button>
        ) : (
          <Button variant="default" onClick={stop}>
            {texts.stop}
          </Button>
        )}
        <p role="status" className="soft">
          {own === undefined
            ? texts.text
            : own.isConnected
              ? texts.on
              : own.error === undefined
                ? texts.connecting
                : ''}
        </p>
      </div>
      {own?.error === undefined ? null : <ProblemAlert error={own.error} onRetry={() => start(event)} />}
      {own?.received.map(({ id, at, body, problem }) => (
        <div key={id} className="received">
          <p>
            {problem === null ? (
              <State tone="good">{texts.valid}</State>
            ) : (
              <State tone="bad">{texts.invalid(problem)}</State>
            )}
            <Link translate="no" to="/deliveries/$id" params={{ id }} className="mono">
              {id}
            </Link>
            <RelativeTime value={at} />
          </p>
          <pre translate="no" className="code wrap" tabIndex={0} role="region" aria-label={texts.bodyOf(id)} dir="auto">
            {format(body)}
          </pre>
        </div>
      ))}
      <CommandHint command={`waypost event:listen ${event}`} />
    </section>
  )
}

function format(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
