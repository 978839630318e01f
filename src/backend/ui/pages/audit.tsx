import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { call, type Entry } from '../api/call.ts'
import { TablePage } from '../components/table-page.tsx'
import { CutText } from '../components/delivery.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ExactTime } from '../components/time.tsx'
import { operateTexts } from '../components/operate-texts.ts'
import { pageTitles as pages } from '../page-titles.ts'

const { none } = operateTexts
const { since } = operateTexts
const { spans } = operateTexts

const texts = {
  text: 'Administrative changes, by command or in the backend.',
  action: 'Action',
  kind: 'Kind',
  subject: 'Subject',
  subjectId: 'Id or key',
  change: 'Change',
  by: 'By',
  how: 'How',
  at: 'When',
  hows: { command: 'command', http: 'HTTP' },
  empty: 'No changes yet',
  emptyText: 'Changes to users, clients, tokens, subscriptions, releases and rows appear here.',
} as const

type Audit = Entry<'GET /audit'>
type Fact = NonNullable<Audit['before']>[string]

const kinds = [
  'user',
  'client',
  'token',
  'subscription',
  'delivery',
  'cronjob',
  'release',
  'variable',
  'migration',
  'row',
  'key',
  'secret',
  'issuer',
  'system',
]

export function Page() {
  return (
    <TablePage
      title={pages.audit}
      text={texts.text}
      queryKey={['audit']}
      load={(query, signal) => call('GET /audit', { query: query as object }, signal)}
      rowKey={({ id }) => id}
      defaultSort="-at"
      columns={[
        {
          name: 'action',
          label: texts.action,
          width: 192,
          render: ({ action }) => <span className="strong">{action}</span>,
        },
        {
          name: 'subject',
          label: texts.subject,
          width: '16%',
          render: (entry) => <Subject entry={entry} />,
        },
        { name: 'change', label: texts.change, width: '40%', render: (entry) => <Changes entry={entry} /> },
        { name: 'by', label: texts.by, render: ({ user }) => <CutText text={user.name} /> },
        {
          name: 'how',
          label: texts.how,
          isMinor: true,
          render: ({ how }) => <span className="nowrap">{texts.hows[how]}</span>,
        },
        { name: 'at', label: texts.at, isSortable: true, render: ({ at }) => <ExactTime value={at} /> },
      ]}
      filters={[
        { name: 'kind', label: texts.kind, options: Object.fromEntries(kinds.map((kind) => [kind, kind])) },
        { name: 'subject', label: texts.subject },
        { name: 'subject_id', label: texts.subjectId },
        { name: 'user', label: texts.by },
        { name: 'since', label: since, options: spans },
      ]}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    />
  )
}

/** What was changed, with a link to its page. */
function Subject({ entry: { kind, subject } }: { readonly entry: Audit }) {
  if (subject === null) return none
  const { name, id } = subject
  const text = <CutText text={name} />
  if (kind === 'delivery') {
    return (
      <Link to="/deliveries/$id" params={{ id: name }}>
        {text}
      </Link>
    )
  }
  if (kind === 'subscription') {
    return (
      <Link to="/subscriptions/$id" params={{ id: name }}>
        {text}
      </Link>
    )
  }
  if (kind === 'row') {
    return (
      <Link to="/tables/$name/rows" params={{ name }} search={{}}>
        <CutText text={id === null ? name : `${name} · ${id}`} />
      </Link>
    )
  }
  if (kind === 'user') {
    return (
      <Link to="/users/$name" params={{ name }}>
        {text}
      </Link>
    )
  }
  if (kind === 'client' && id !== null) {
    return (
      <Link to="/clients/$id" params={{ id }}>
        {text}
      </Link>
    )
  }
  return text
}

/** What the change did to each property: `status active → disabled`, `scopes +todo −note`. */
function Changes({ entry: { before, after } }: { readonly entry: Audit }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const changes = names.flatMap((name) => {
    const shown = describe(before?.[name], after?.[name])
    return shown === undefined ? [] : [{ name, shown }]
  })
  if (changes.length === 0) return none
  return (
    <ul className="facts-changed">
      {changes.map(({ name, shown }) => (
        <li key={name}>
          <span className="soft">{name.replaceAll('_', ' ')}</span> {shown}
        </li>
      ))}
    </ul>
  )
}

function describe(before: Fact | undefined, after: Fact | undefined): ReactNode {
  if (Array.isArray(before) || Array.isArray(after)) return describeLists(listOf(before), listOf(after))
  if (isNothing(after)) return isNothing(before) ? undefined : <bdi translate="no">{String(before)}</bdi>
  if (isNothing(before)) return <bdi translate="no">{String(after)}</bdi>
  if (before === after)
    return (
      <bdi translate="no" className="soft">
        {String(after)}
      </bdi>
    )
  return (
    <>
      <del dir="auto">{String(before)}</del> → <ins dir="auto">{String(after)}</ins>
    </>
  )
}

function describeLists(before: readonly string[], after: readonly string[]): ReactNode {
  const added = after.filter((one) => !before.includes(one))
  const removed = before.filter((one) => !after.includes(one))
  if (added.length + removed.length === 0) return undefined
  return (
    <span className="list-change">
      {added.map((one) => (
        <ins key={one} dir="auto">{`+${one}`}</ins>
      ))}
      {removed.map((one) => (
        <del key={one} dir="auto">{`−${one}`}</del>
      ))}
    </span>
  )
}

function listOf(value: Fact | undefined): readonly string[] {
  return Array.isArray(value) ? value : isNothing(value) ? [] : [String(value)]
}

/** Counts of 0 say nothing. */
function isNothing(value: Fact | undefined): boolean {
  return value === undefined || value === null || value === 0 || value === ''
}
