import { Button, Skeleton } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { call, type Entry } from '../api/call.ts'
import { State } from '../components/badge.tsx'
import { Source } from '../components/definition-parts.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { strings } from '../strings.ts'
import { build } from '../strings/build.ts'

const { connections: texts } = build
type Connection = Entry<'GET /connection'>

export function Page() {
  const { data, error, isError, refetch } = useQuery({
    queryKey: ['connection'],
    queryFn: ({ signal }) => call('GET /connection', {}, signal),
  })
  return (
    <>
      <PageHeader title={strings.pages.connections} text={texts.text} />
      {isError ? <ProblemAlert error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined && !isError ? <Skeleton height={160} /> : null}
      <ul className="blocks">
        {data?.entry.map((connection) => (
          <li key={connection.name}>
            <ConnectionBlock {...connection} />
          </li>
        ))}
      </ul>
    </>
  )
}

function ConnectionBlock({ name, class: of, description, config, source, migrations }: Connection) {
  const mayTest = useStore(sessionStore)?.scopes.includes('backend.deploy') === true
  const testing = useMutation({
    mutationFn: () => call('POST /connection/:name/test', { params: { name } }),
  })
  const entries = Object.entries(config)
  return (
    <section className="block" aria-label={name}>
      <div className="block-head">
        <h2 dir="auto">{name}</h2>
        <span className="soft">{of}</span>
        {migrations === 0 ? null : <span className="soft">{texts.migrations(migrations)}</span>}
        {mayTest ? (
          <Button
            variant="default"
            loading={testing.isPending}
            aria-label={texts.testOf(name)}
            onClick={() => testing.mutate()}
          >
            {texts.test}
          </Button>
        ) : null}
      </div>
      <p className="soft">{name === 'System' ? texts.system : description}</p>
      {entries.length === 0 ? null : (
        <dl className="facts">
          {entries.map(([key, value]) => (
            <Setting key={key} name={key} value={value} />
          ))}
        </dl>
      )}
      <Source value={source} />
      <div role="status">
        {testing.data === undefined ? null : testing.data.ok ? (
          <State tone="good">{texts.ok(build.ms(testing.data.ms))}</State>
        ) : (
          <p className="problem" dir="auto">
            {texts.failed}: {testing.data.problem}
          </p>
        )}
      </div>
      {testing.isError ? <ProblemAlert error={testing.error} /> : null}
    </section>
  )
}

function Setting({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <code dir="auto">{typeof value === 'string' ? value : JSON.stringify(value)}</code>
      </dd>
    </>
  )
}
