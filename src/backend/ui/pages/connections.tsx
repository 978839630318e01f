import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { call, type Entry } from '../api/call.ts'
import { Source } from '../components/definition-parts.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { TestConnection } from '../components/test-connection.tsx'
import { useCanEdit, useServerDraft, valueQuery } from '../edit/draft.ts'
import { LastSave } from '../edit/last-save.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { DraftMark } from '../publish/draft-mark.tsx'
import { connectionTexts, connectionsTexts as texts } from '../components/connection-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { publishTexts as publish } from '../publish/publish-texts.ts'

type Connection = Entry<'GET /connection'>

const NewConnection = lazyPart(() => import('../editors/connection.tsx'), 'NewConnection')

export function Page() {
  const canEdit = useCanEdit()
  const isServer = useServerDraft() !== undefined
  const drafted = useQuery({ ...valueQuery('/connection'), enabled: isServer })
  const [isAdding, setAdding] = useState(false)
  const add = canEdit ? <Button onClick={() => setAdding(true)}>{connectionTexts.new}</Button> : undefined
  const { data, error, isError, refetch } = useQuery({
    queryKey: ['connection'],
    queryFn: ({ signal }) => call('GET /connection', {}, signal),
  })
  return (
    <>
      <PageHeader title={pageTitles.connections} text={texts.text} action={add} />
      {isError ? <ProblemAlert error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined && !isError ? <Skeleton height={160} /> : null}
      <ul className="blocks">
        {listNew(drafted.data?.value, data?.entry).map(([name, of]) => (
          <li key={name}>
            <section className="block" aria-label={name}>
              <div className="block-head">
                <h2 dir="auto">{name}</h2>
                <span className="soft">{of}</span>
                <DraftMark at={pointerOf('connection', name)} />
                <Link to="/connections/$name" params={{ name }} aria-label={connectionTexts.editOf(name)}>
                  {connectionTexts.edit}
                </Link>
              </div>
              <p className="soft">{publish.testLater}</p>
            </section>
          </li>
        ))}
        {data?.entry.map((connection) => (
          <li key={connection.name}>
            <ConnectionBlock connection={connection} canEdit={canEdit} />
          </li>
        ))}
      </ul>
      {canEdit ? <LastSave /> : null}
      <Suspense>{isAdding ? <NewConnection onClose={() => setAdding(false)} /> : null}</Suspense>
    </>
  )
}

/** Connections that are only in the draft of a server, with their classes. */
function listNew(drafted: unknown, known: readonly Connection[] | undefined): readonly (readonly [string, string])[] {
  if (known === undefined || !isMap(drafted)) return []
  const added = Object.entries(drafted).filter(([name]) => !known.some((one) => one.name === name))
  return added.map(([name, value]) => [name, isMap(value) ? String(value['class']) : ''])
}

interface ConnectionBlockProps {
  readonly connection: Connection
  readonly canEdit: boolean
}

function ConnectionBlock({ connection, canEdit }: ConnectionBlockProps) {
  const { name, class: of, description, config, source, migrations } = connection
  const entries = Object.entries(config)
  return (
    <section className="block" aria-label={name}>
      <div className="block-head">
        <h2 dir="auto">{name}</h2>
        <span className="soft">{of}</span>
        {migrations === 0 ? null : <span className="soft">{texts.migrations(migrations)}</span>}
        {canEdit && source !== null ? (
          <Link to="/connections/$name" params={{ name }} aria-label={connectionTexts.editOf(name)}>
            {connectionTexts.edit}
          </Link>
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
      <TestConnection name={name} />
    </section>
  )
}

function Setting({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <code translate="no" dir="auto">
          {typeof value === 'string' ? value : JSON.stringify(value)}
        </code>
      </dd>
    </>
  )
}
