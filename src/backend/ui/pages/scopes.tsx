import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazyPart } from '../components/lazy-part.tsx'
import { call, type Entry } from '../api/call.ts'
import { isBackendScope, useScopes } from '../components/access.tsx'
import { State } from '../components/badge.tsx'
import { CopyText } from '../components/copy.tsx'
import type { Column } from '../components/data-table.tsx'
import { TablePage } from '../components/table-page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { useCanEdit, valueQuery } from '../edit/draft.ts'
import { LastSave } from '../edit/last-save.tsx'
import { isMap } from '../edit/values.ts'
import { accessTexts, pickerTexts } from '../components/access-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { scopeListTexts as texts, scopeTexts } from './scope-texts.ts'

const NewScope = lazyPart(() => import('../editors/scope.tsx'), 'NewScope')

type Scope = Entry<'GET /scope'>

const columns: readonly Column<Scope>[] = [
  {
    name: 'description',
    label: texts.description,
    render: (scope) =>
      isUnused(scope) ? (
        <State tone="warn">{texts.unused}</State>
      ) : scope.description === null ? null : (
        <bdi>{scope.description}</bdi>
      ),
  },
  {
    name: 'routes',
    label: texts.routes,
    isRight: true,
    isMinor: true,
    render: ({ name, routes }) => <Uses scope={name} count={routes} />,
  },
  {
    name: 'events',
    label: texts.events,
    isRight: true,
    isMinor: true,
    render: ({ name, events }) => <Uses scope={name} count={events} />,
  },
  {
    name: 'users',
    label: texts.users,
    isRight: true,
    render: ({ name, users }) => <Count to="/users" scope={name} count={users} />,
  },
  {
    name: 'clients',
    label: texts.clients,
    isRight: true,
    render: ({ name, clients }) => <Count to="/clients" scope={name} count={clients} />,
  },
]

/** What opens the editor of a scope; the scopes of Waypost itself are not declared. */
function editorOf({ name }: Scope, declared: readonly string[]) {
  if (isBackendScope(name) || name === 'consumer') return undefined
  const page = { to: '/scopes/$name', params: { name } }
  return declared.includes(name) ? page : { ...page, search: { new: '{}' } }
}

export function Page() {
  const queries = useQueryClient()
  const canEdit = useCanEdit()
  const declared = useDeclared(canEdit)
  const problems = useScopes().data?.problems ?? []
  const load = async (search: string) => {
    const { entry } = await queries.query({ queryKey: ['scope', 'list'], queryFn: () => call('GET /scope', {}) })
    const matches = ({ name, description }: Scope) => `${name} ${description}`.toLowerCase().includes(search)
    return { entry: entry.filter(matches) }
  }
  return (
    <TablePage
      title={pageTitles.scopes}
      text={texts.text}
      add={canEdit ? { label: scopeTexts.new, dialog: NewScope } : undefined}
      notes={
        problems.length === 0 ? null : (
          <div className="warnings" role="note">
            <p>{texts.problem}</p>
            {problems.map((problem) => (
              <p key={problem} dir="auto">
                {problem}
              </p>
            ))}
          </div>
        )
      }
      queryKey={['scope']}
      load={({ search = '' }) => load(search.toLowerCase())}
      rowKey={({ name }) => name}
      columns={[
        {
          name: 'name',
          label: accessTexts.scope,
          render: (scope) =>
            canEdit && editorOf(scope, declared) !== undefined ? (
              <code translate="no" dir="auto">
                {scope.name}
              </code>
            ) : (
              <CopyText value={scope.name} isMono label={accessTexts.scope} />
            ),
        },
        ...columns,
      ]}
      {...(canEdit ? { rowLink: (scope: Scope) => editorOf(scope, declared) } : {})}
      filters={[{ name: 'search', label: texts.search }]}
      empty={<EmptyState title={pickerTexts.none} />}
    >
      {canEdit ? <LastSave /> : null}
    </TablePage>
  )
}

/** The scopes that the files declare; none on servers. */
function useDeclared(canEdit: boolean): readonly string[] {
  const { data } = useQuery({ ...valueQuery('/scope'), enabled: canEdit })
  return isMap(data?.value) ? Object.keys(data.value) : []
}

/** The routes of Waypost itself, which require the built-in scopes, are not counted. */
function Uses({ scope, count }: { readonly scope: string; readonly count: number }) {
  const isBuiltIn = isBackendScope(scope) || scope === 'consumer'
  return count > 0 ? <>{count}</> : <span className="soft">{isBuiltIn ? accessTexts.none : 0}</span>
}

/** Whether users or clients have a scope that nothing requires: a typo, or a scope of another release. */
function isUnused({ name, description, routes, events }: Scope): boolean {
  return routes === 0 && events === 0 && description === null && !isBackendScope(name)
}

function Count({
  to,
  scope,
  count,
}: {
  readonly to: '/users' | '/clients'
  readonly scope: string
  readonly count: number
}) {
  if (count === 0) return <span className="soft">0</span>
  return (
    <Link to={to} search={{ scope }}>
      {count}
    </Link>
  )
}
