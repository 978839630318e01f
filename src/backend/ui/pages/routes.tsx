import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { definitionQuery, nameOf, type Route } from '../api/definition.ts'
import { MethodBadge, State } from '../components/badge.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Access, InheritedFrom, NoRelease } from '../components/definition-parts.tsx'
import { listLocally } from '../components/local-list.ts'
import { PageHeader } from '../components/page-header.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { LastSave } from '../edit/last-save.tsx'
import { pointerOf } from '../edit/values.ts'
import { DraftMark } from '../publish/draft-mark.tsx'
import { buildTexts as build } from '../components/definition-texts.ts'
import { newTexts } from '../editors/route-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { routesTexts as texts } from './route-texts.ts'

const NewRoute = lazyPart(() => import('../editors/new-route.tsx'), 'NewRoute')
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const columns: readonly Column<Route>[] = [
  { name: 'route', label: texts.route, isSortable: true, render: (route) => <Name {...route} /> },
  {
    name: 'access',
    label: texts.access,
    width: '28%',
    render: (route) => (
      <>
        <Access {...route} />
        {route.public ? null : <InheritedFrom group={route.inherited['scopes']} />}
      </>
    ),
  },
  {
    name: 'action',
    label: texts.action,
    isMinor: true,
    width: '24%',
    render: ({ action }) =>
      action.kind === 'file' ? (
        <EndOf text={action.name} />
      ) : (
        <bdi translate="no" title={action.name}>
          {action.name}
        </bdi>
      ),
  },
  {
    name: 'calls',
    label: texts.calls,
    isSortable: true,
    isRight: true,
    width: 104,
    render: ({ calls }) => <span className={calls === 0 ? 'soft' : undefined}>{build.number(calls)}</span>,
  },
  {
    name: 'p95',
    label: texts.p95,
    isSortable: true,
    isRight: true,
    render: ({ p95_ms: ms }) => (ms === null ? <NoData /> : <span>{build.ms(ms)}</span>),
    width: 80,
  },
]

const lists = {
  textOf: (route: Route) =>
    [nameOf(route), route.action.name, route.action.class, route.source, route.description, ...route.scopes].join(' '),
  filters: {
    method: (route: Route, value: string) => route.method === value,
    use: ({ calls, server_errors: errors }: Route, value: string) =>
      value === 'failing' ? errors > 0 : calls > 0 === (value === 'called'),
  },
  sorts: {
    route: ({ path, method }: Route) => `${path} ${methods.indexOf(method as 'GET')}`,
    calls: ({ calls }: Route) => calls,
    p95: ({ p95_ms: ms }: Route) => ms ?? -1,
  },
}

export function Page() {
  const queries = useQueryClient()
  const canEdit = useCanEdit()
  const [isAdding, setAdding] = useState(false)
  const { data } = useQuery(definitionQuery)
  const paths = new Set(data?.routes.map(({ path }) => path))
  return (
    <>
      <PageHeader
        title={pageTitles.routes}
        text={data === undefined || data.routes.length === 0 ? undefined : texts.text(data.routes.length, paths.size)}
        action={canEdit ? <Button onClick={() => setAdding(true)}>{newTexts.title}</Button> : undefined}
      />
      <div className="routes">
        <DataTable
          label={pageTitles.routes}
          queryKey={['definition', 'routes']}
          load={async (query) => listLocally((await queries.query(definitionQuery)).routes, query, lists)}
          columns={columns}
          filters={[
            { name: 'search', label: build.search },
            { name: 'method', label: texts.method, options: Object.fromEntries(methods.map((one) => [one, one])) },
            { name: 'use', label: texts.use, options: texts.uses },
          ]}
          defaultSort="route"
          rowKey={nameOf}
          rowLink={(route) => ({ to: '/routes/$route', params: { route: nameOf(route) } })}
          empty={<NoRelease />}
        />
      </div>
      {canEdit ? <LastSave /> : null}
      <Suspense>{isAdding ? <NewRoute onClose={() => setAdding(false)} /> : null}</Suspense>
    </>
  )
}

/** A path on one line. If it is too long, its beginning is cut off. */
function EndOf({ text }: { readonly text: string }) {
  return (
    <span translate="no" className="source mono" title={text}>
      <bdi translate="no">{text}</bdi>
    </span>
  )
}

function NoData() {
  return (
    <span className="soft no-data">
      <span aria-hidden>–</span>
      <span className="hidden">{build.noData}</span>
    </span>
  )
}

function Name({ method, path, deprecated }: Route) {
  return (
    <span className="route">
      <MethodBadge method={method} />
      <span translate="no" className="mono route-path" dir="auto" title={path}>
        {path}
      </span>
      {deprecated === false ? null : <State tone="warn">{texts.deprecated}</State>}
      <DraftMark at={pointerOf('routes', path, 'methods', method)} />
    </span>
  )
}
