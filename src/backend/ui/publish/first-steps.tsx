import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Check, Circle, FileUp, Route, Table2, type LucideIcon } from 'lucide-react'
import { Suspense, useState, type ReactNode } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { call } from '../api/call.ts'
import { activeQuery, definitionQuery, nameOf, tablesQuery } from '../api/definition.ts'
import { CommandHint } from '../components/copy.tsx'
import { issuer } from '../config.ts'
import { useHasDraft, useServerDraft } from '../edit/draft.ts'
import { useHasScope } from '../shell/scope-gate.tsx'

const texts = {
  title: 'No API yet',
  text: 'Build an API in the browser. Everything you make is a draft until you publish it.',
  table: 'From a table',
  tableText: 'Design a table, then create its routes, access and event.',
  import: 'Import files',
  importText: 'Upload the folder of a Waypost project, for example from Git.',
  empty: 'Empty',
  emptyText: 'Add a route with its schema and action yourself.',
  or: 'Or deploy a project from its folder:',
  steps: 'First steps',
  done: 'done',
  open: 'to do',
  checklist: {
    table: { title: 'Table', text: 'Design where data is stored', action: 'New table' },
    api: { title: 'API', text: 'Create its routes', action: 'Create routes' },
    publish: { title: 'Publish', text: 'Make the draft live', action: 'Publish' },
    call: { title: 'Call', text: 'Send a request', action: 'Try it' },
    subscribe: { title: 'Subscribe', text: 'Receive events', action: 'Add subscription' },
  },
} as const

const Import = lazyPart(() => import('./import-files.tsx'), 'ImportFiles')
const NewRoute = lazyPart(() => import('../editors/new-route.tsx'), 'NewRoute')

/** Three ways to begin an API on a server without one. */
export function NoApi() {
  const [dialog, setDialog] = useState<'import' | 'route'>()
  const navigate = useNavigate()
  const close = () => setDialog(undefined)
  return (
    <section className="first-run">
      <h2>{texts.title}</h2>
      <p className="soft">{texts.text}</p>
      <ul className="ways">
        <Way
          icon={Table2}
          title={texts.table}
          text={texts.tableText}
          isFirst
          onClick={() => void navigate({ to: '/tables/$name', params: { name: 'new' } })}
        />
        <Way icon={FileUp} title={texts.import} text={texts.importText} onClick={() => setDialog('import')} />
        <Way icon={Route} title={texts.empty} text={texts.emptyText} onClick={() => setDialog('route')} />
      </ul>
      <CommandHint label={texts.or} command={`npx waypost deploy --url ${issuer}`} />
      <Suspense>
        {dialog === 'import' ? <Import onClose={close} /> : null}
        {dialog === 'route' ? <NewRoute onClose={close} /> : null}
      </Suspense>
    </section>
  )
}

interface WayProps {
  readonly icon: LucideIcon
  readonly title: string
  readonly text: string
  readonly isFirst?: boolean
  onClick(): void
}

function Way({ icon: Icon, title, text, isFirst = false, onClick }: WayProps) {
  return (
    <li>
      <button type="button" className="way" data-first={isFirst || undefined} onClick={onClick}>
        <Icon size={18} aria-hidden />
        <span className="strong">{title}</span>
        <span className="soft">{text}</span>
      </button>
    </li>
  )
}

type StepName = keyof typeof texts.checklist

/** Which first steps are done, derived from what exists. */
export function useFirstSteps() {
  const draft = useServerDraft()
  const canEdit = useHasDraft()
  const mayOperate = useHasScope('backend.operate')
  const enabled = draft !== undefined && canEdit
  const tables = useQuery({
    ...tablesQuery,
    enabled,
  }).data
  const definition = useQuery({ ...definitionQuery, enabled }).data
  const active = useQuery({ ...activeQuery, enabled }).data
  const hasSubscription = useQuery({
    queryKey: ['subscription', 'first'],
    queryFn: ({ signal }) => call('GET /subscription', { query: { limit: '1' } }, signal),
    enabled: enabled && mayOperate,
  }).data
  const releases = useQuery({
    queryKey: ['release', 'list'],
    queryFn: ({ signal }) => call('GET /release', {}, signal),
    enabled,
  }).data
  const calls = useQuery({
    queryKey: ['statistics', 'route', 'day'],
    queryFn: ({ signal }) => call('GET /statistics/route', { query: { by: 'minute' } }, signal),
    enabled,
  }).data
  const isKnown = releases !== undefined && tables !== undefined && definition !== undefined && active !== undefined
  if (!enabled || !isKnown) return undefined
  const hasMigration = draft.entries.some(({ file }) => file.startsWith('migrations/'))
  return {
    /** Whether the API is built here, not deployed from a project. */
    isBuiltHere: releases.entry.every(({ kind }) => kind !== 'deploy'),
    isEmpty: active.id === null && draft.entries.length === 0,
    table: tables.entry.find(({ view }) => !view),
    route: active.routes.find(({ method }) => method === 'POST') ?? active.routes[0],
    done: {
      table: tables.entry.length > 0 || hasMigration,
      api: definition.routes.length > 0,
      publish: active.id !== null,
      call: (calls?.entry.some(({ requests }) => requests > 0) ?? false) || active.routes.some((one) => one.calls > 0),
      subscribe: (hasSubscription?.entry.length ?? 0) > 0,
    } satisfies Record<StepName, boolean>,
  }
}

type Steps = NonNullable<ReturnType<typeof useFirstSteps>>

/** The first steps with an API, until all are done. The next one has a button. */
export function Checklist({ steps }: { readonly steps: Steps }) {
  const names = Object.keys(texts.checklist) as StepName[]
  const next = names.find((name) => !steps.done[name])
  return (
    <section>
      <h2>{texts.steps}</h2>
      <ol className="checklist">
        {names.map((name) => (
          <li key={name} data-done={steps.done[name] || undefined}>
            {steps.done[name] ? <Check size={16} aria-hidden /> : <Circle size={16} aria-hidden />}
            <span className="hidden">{steps.done[name] ? texts.done : texts.open}</span>
            <span className="checklist-title strong">{texts.checklist[name].title}</span>
            <span className="soft">{texts.checklist[name].text}</span>
            {name === next && !steps.isEmpty ? <StepLink name={name} steps={steps} /> : null}
          </li>
        ))}
      </ol>
    </section>
  )
}

function StepLink({ name, steps: { table, route } }: { readonly name: StepName; readonly steps: Steps }): ReactNode {
  const target = {
    table: { to: '/tables/$name', params: { name: 'new' } },
    api:
      table === undefined
        ? { to: '/routes' }
        : { to: '/tables/$name', params: { name: `${table.connection}.${table.name}` } },
    publish: { to: '/publish' },
    call:
      route === undefined
        ? { to: '/routes' }
        : { to: '/routes/$route', params: { route: nameOf(route) }, search: { tab: 'try' } },
    subscribe: { to: '/subscriptions', search: { add: '1' } },
  }[name]
  return <Button renderRoot={(props) => <Link {...target} {...props} />}>{texts.checklist[name].action}</Button>
}
