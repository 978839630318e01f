import { useQueryClient } from '@tanstack/react-query'
import { lazyPart } from '../components/lazy-part.tsx'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { TablePage } from '../components/table-page.tsx'
import { Users } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { listLocally } from '../components/local-list.ts'
import { useCanEdit } from '../edit/draft.ts'
import { LastSave } from '../edit/last-save.tsx'
import { pointerOf } from '../edit/values.ts'
import { MarkedName } from '../publish/draft-mark.tsx'
import { buildTexts, whoTexts } from '../components/definition-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { eventTexts, eventsTexts as texts } from './event-texts.ts'

const NewEvent = lazyPart(() => import('../editors/event.tsx'), 'NewEvent')
type Event = Definition['events'][number]

const lists = {
  textOf: ({ name, description, scopes, dispatched_by: users }: Event) =>
    [name, description, ...scopes, ...users].join(' '),
  sorts: { name: ({ name }: Event) => name },
}

export function Page() {
  const queries = useQueryClient()
  const canEdit = useCanEdit()
  return (
    <TablePage
      title={pageTitles.events}
      text={texts.text}
      add={canEdit ? { label: eventTexts.new, dialog: NewEvent } : undefined}
      queryKey={['definition', 'events']}
      load={async (query) => listLocally((await queries.query(definitionQuery)).events, query, lists)}
      columns={[
        {
          name: 'name',
          label: texts.name,
          isSortable: true,
          render: ({ name }) => <MarkedName name={name} at={pointerOf('event', name)} />,
        },
        {
          name: 'description',
          label: texts.description,
          isMinor: true,
          render: ({ description }) => <span dir="auto">{description}</span>,
        },
        {
          name: 'scopes',
          label: texts.scopes,
          render: ({ scopes, private: isPrivate }) => <Subscribers scopes={scopes} isPrivate={isPrivate} />,
        },
        {
          name: 'users',
          label: texts.dispatchedBy,
          render: ({ dispatched_by: users }) =>
            users.length === 0 ? <span className="soft">{texts.code}</span> : <Users uses={users} limit={3} />,
        },
      ]}
      filters={[{ name: 'search', label: buildTexts.search }]}
      defaultSort="name"
      rowKey={({ name }) => name}
      rowLink={({ name }) => ({ to: '/events/$name', params: { name } })}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    >
      {canEdit ? <LastSave /> : null}
    </TablePage>
  )
}

/** Who may subscribe to an event. */
export function Subscribers({
  scopes,
  isPrivate,
}: {
  readonly scopes: readonly string[]
  readonly isPrivate: boolean
}) {
  if (isPrivate) return <span className="soft">{texts.private}</span>
  if (scopes.length === 0) return <span className="soft">{texts.anyScope}</span>
  return <bdi>{scopes.join(` ${whoTexts.or} `)}</bdi>
}
