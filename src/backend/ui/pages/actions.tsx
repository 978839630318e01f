import { useQueryClient } from '@tanstack/react-query'
import { lazyPart } from '../components/lazy-part.tsx'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { TablePage } from '../components/table-page.tsx'
import { Source, Users } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { listLocally } from '../components/local-list.ts'
import { useCanEdit } from '../edit/draft.ts'
import { LastSave } from '../edit/last-save.tsx'
import { pointerOf } from '../edit/values.ts'
import { MarkedName } from '../publish/draft-mark.tsx'
import { buildTexts as build } from '../components/definition-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { actionsTexts as texts, actionTexts } from './action-texts.ts'

const NewAction = lazyPart(() => import('../editors/action.tsx'), 'NewAction')
type Action = Definition['actions'][number]

const lists = {
  textOf: ({ name, class: of, source, used_by: users }: Action) =>
    [name, of, source, ...users.map((use) => use.name)].join(' '),
  filters: { kind: ({ kind }: Action, value: string) => (kind === 'file') === (value === 'file') },
  sorts: { name: ({ name }: Action) => name },
}

export function Page() {
  const queries = useQueryClient()
  const canEdit = useCanEdit()
  return (
    <TablePage
      title={pageTitles.actions}
      text={texts.text}
      add={canEdit ? { label: actionTexts.new, dialog: NewAction } : undefined}
      queryKey={['definition', 'actions']}
      load={async (query) => listLocally((await queries.query(definitionQuery)).actions, query, lists)}
      columns={[
        {
          name: 'name',
          width: 280,
          label: texts.name,
          isSortable: true,
          render: ({ name, kind }) =>
            kind === 'named' ? (
              <MarkedName name={name} at={pointerOf('action', name)} />
            ) : (
              <bdi translate="no" className={kind === 'file' ? 'mono' : undefined}>
                {name}
              </bdi>
            ),
        },
        {
          name: 'kind',
          label: texts.kind,
          render: ({ kind, class: of }) =>
            kind === 'named' ? (
              <bdi translate="no" className="nowrap">
                {of}
              </bdi>
            ) : (
              texts.kinds[kind]
            ),
        },
        { name: 'source', label: build.source, isMinor: true, render: ({ source }) => <Source value={source} /> },
        { name: 'users', label: build.usedBy, render: ({ used_by: users }) => <Users uses={users} limit={3} /> },
      ]}
      filters={[
        { name: 'search', label: build.search },
        { name: 'kind', label: texts.kind, options: { file: texts.kinds.file, class: texts.kinds.class } },
      ]}
      defaultSort="name"
      rowKey={({ kind, name, used_by: users }) => `${kind} ${name} ${kind === 'class' ? users[0]?.name : ''}`}
      rowLink={({ kind, name, used_by: users }) =>
        kind === 'class'
          ? { to: '/routes/$route', params: { route: users[0]?.name ?? '' } }
          : { to: '/actions/$name', params: { name } }
      }
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    >
      {canEdit ? <LastSave /> : null}
    </TablePage>
  )
}
