import { Button } from '@mantine/core'
import { useDocumentVisibility } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { definitionQuery, nameOf } from '../api/definition.ts'
import { followTraffic, type TrafficEntry } from '../api/follow.ts'
import { RouteName, State } from '../components/badge.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { RelativeTime } from '../components/time.tsx'
import { buildTexts as build } from '../components/definition-texts.ts'
import { pageTitles } from '../page-titles.ts'

const texts = {
  text: 'Requests to waypost dev as they happen, the last 500.',
  pause: 'Pause',
  resume: 'Continue',
  request: 'Request',
  status: 'Status',
  time: 'Time',
  user: 'User',
  problem: 'Problem',
  at: 'At',
  lost: 'The server cannot be reached. Connecting again …',
  empty: 'No requests yet',
  emptyText: 'Call a route, for example with Try it. Requests from the backend are not shown.',
} as const

const maxShown = 500

export function Page() {
  const [isPaused, setPaused] = useState(false)
  const [isConnected, setConnected] = useState(true)
  const [error, setError] = useState<Error>()
  const [shown, setShown] = useState<readonly TrafficEntry[]>([])
  const last = useRef(0)
  const isHidden = useDocumentVisibility() === 'hidden'
  const definition = useQuery(definitionQuery)
  useEffect(() => {
    // A hidden page would hold one of the few connections that browsers open to a server.
    if (isPaused || isHidden || error !== undefined) return undefined
    const stopping = new AbortController()
    const follower = {
      onConnected: setConnected,
      onLines(entries: readonly TrafficEntry[]) {
        last.current = entries.at(-1)!.number
        setShown((before) => [...entries.toReversed(), ...before].slice(0, maxShown))
      },
    }
    followTraffic(last.current, stopping.signal, follower).catch(setError)
    return () => stopping.abort()
  }, [isPaused, isHidden, error])
  const sources = new Map(definition.data?.routes.map((route) => [nameOf(route), route.source]))
  return (
    <>
      <PageHeader
        title={pageTitles.live}
        text={texts.text}
        action={
          <Button variant="default" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? texts.resume : texts.pause}
          </Button>
        }
      />
      {error === undefined ? null : <ProblemAlert error={error} onRetry={() => setError(undefined)} />}
      <p role="status" className="soft">
        {isConnected || isPaused ? '' : texts.lost}
      </p>
      {shown.length === 0 ? (
        <EmptyState title={texts.empty} text={texts.emptyText} />
      ) : (
        <PlainTable<TrafficEntry>
          label={pageTitles.live}
          rows={shown}
          rowKey={({ number }) => String(number)}
          columns={[
            {
              name: 'request',
              label: texts.request,
              render: (one) => <RouteName method={one.method} path={one.path} />,
            },
            {
              name: 'status',
              label: texts.status,
              render: ({ status }) => (
                <State tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{String(status)}</State>
              ),
            },
            { name: 'ms', label: texts.time, isRight: true, render: ({ ms }) => <span>{build.ms(ms)}</span> },
            { name: 'user', label: texts.user, isMinor: true, render: ({ user }) => <bdi translate="no">{user}</bdi> },
            {
              name: 'reason',
              label: texts.problem,
              render: ({ reason, code, method, route }) =>
                reason === null ? null : (
                  <div>
                    <p dir="auto">{reason}</p>
                    <p translate="no" className="soft mono">
                      {[code, sources.get(`${method} ${route}`)].filter((part) => part != null).join(' · ')}
                    </p>
                  </div>
                ),
            },
            { name: 'at', label: texts.at, isMinor: true, render: ({ at }) => <RelativeTime value={at} /> },
          ]}
        />
      )}
    </>
  )
}
