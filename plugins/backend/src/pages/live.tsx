import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call, type Entry } from '../api/call.ts'
import { definitionQuery, nameOf } from '../api/definition.ts'
import { RouteName, State } from '../components/badge.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { PlainTable } from '../components/plain-table.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { RelativeTime } from '../components/time.tsx'
import { strings } from '../strings.ts'
import { build } from '../strings/build.ts'

const { live: texts } = build
type Request = Entry<'GET /traffic'>

const refreshMs = 1000
const maxShown = 500

export function Page() {
  const [isPaused, setPaused] = useState(false)
  const [shown, setShown] = useState<readonly Request[]>([])
  const last = shown[0]?.number ?? 0
  const { data, error, isError } = useQuery({
    queryKey: ['traffic', last],
    queryFn: ({ signal }) => call('GET /traffic', { query: { after: String(last) } }, signal),
    refetchInterval: isPaused ? false : refreshMs,
    enabled: !isPaused,
    gcTime: 0,
    staleTime: 0,
  })
  const definition = useQuery(definitionQuery)
  useEffect(() => {
    const fresh = data?.entry.filter(({ number }) => number > last) ?? []
    if (fresh.length > 0) setShown((before) => [...fresh.toReversed(), ...before].slice(0, maxShown))
  }, [data])
  const sources = new Map(definition.data?.routes.map((route) => [nameOf(route), route.source]))
  return (
    <>
      <PageHeader
        title={strings.pages.live}
        text={texts.text}
        action={
          <Button variant="default" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? texts.resume : texts.pause}
          </Button>
        }
      />
      {isError ? <ProblemAlert error={error} /> : null}
      {shown.length === 0 ? (
        <EmptyState title={texts.empty} text={texts.emptyText} />
      ) : (
        <PlainTable<Request>
          label={strings.pages.live}
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
            { name: 'user', label: texts.user, isMinor: true, render: ({ user }) => <bdi>{user}</bdi> },
            {
              name: 'reason',
              label: texts.problem,
              render: ({ reason, code, method, route }) =>
                reason === null ? null : (
                  <div>
                    <p dir="auto">{reason}</p>
                    <p className="soft mono">
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
