import { send } from '../../api/send.ts'
import { TablePage } from '../../components/table-page.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { listLocally } from '../../components/local-list.ts'
import type { EventEntry, List } from '../api.ts'
import { eventsTexts as texts } from '../events/event-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

const lists = {
  textOf: ({ name, description, scopes }: EventEntry) => [name, description, ...scopes].join(' '),
  sorts: { name: ({ name }: EventEntry) => name },
}

/** The events that the user may subscribe to. */
export function Page() {
  return (
    <TablePage
      title={pagesTexts.events}
      text={texts.text}
      queryKey={['event']}
      load={async (query, signal) =>
        listLocally((await send<List<EventEntry>>('GET', 'event', { signal })).entry, query, lists)
      }
      columns={[
        { name: 'name', label: texts.name, render: ({ name }) => <bdi translate="no">{name}</bdi> },
        {
          name: 'description',
          label: texts.description,
          render: ({ description }) => <span dir="auto">{description}</span>,
        },
        { name: 'scopes', label: texts.scopes, render: ({ scopes }) => <Scopes scopes={scopes} /> },
      ]}
      filters={[{ name: 'search', label: texts.search }]}
      defaultSort="name"
      rowKey={({ name }) => name}
      rowLink={({ name }) => ({ to: '/events/$name', params: { name } })}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    />
  )
}

/** Who may receive an event. */
export function Scopes({ scopes }: Pick<EventEntry, 'scopes'>) {
  if (scopes.length === 0) return <span className="soft">{texts.anyone}</span>
  return (
    <span className="wrap">
      {scopes.map((scope, index) => (
        <span key={scope}>
          {index === 0 ? '' : ` ${texts.or} `}
          <bdi translate="no" className="mono">
            {scope}
          </bdi>
        </span>
      ))}
    </span>
  )
}
