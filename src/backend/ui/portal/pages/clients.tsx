import { useQueryClient } from '@tanstack/react-query'
import { send } from '../../api/send.ts'
import { AccessState, Name, ScopeSummary } from '../../components/access.tsx'
import type { Column } from '../../components/data-table.tsx'
import { TablePage } from '../../components/table-page.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { listLocally } from '../../components/local-list.ts'
import { NewClient, type NewClientValues } from '../../components/new-client.tsx'
import { readUris } from '../../components/redirect-uris.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useOwnScopes } from '../access.tsx'
import type { Client, List } from '../api.ts'
import { ClientUsage, typeOf } from '../client-usage.tsx'
import { assertFields, clientRules, sendForm, urisProblem } from '../form.ts'
import { formTexts, scopesTexts } from '../access-texts.ts'
import { clientsTexts as texts } from './client-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

const columns: readonly Column<Client>[] = [
  { name: 'name', label: texts.name, isSortable: true, render: ({ name }) => <Name text={name} /> },
  {
    name: 'type',
    label: texts.typeLabel,
    render: (client) => <span className="nowrap">{texts.shortTypes[typeOf(client)]}</span>,
  },
  { name: 'status', label: texts.status, render: ({ status }) => <AccessState status={status} /> },
  { name: 'scopes', label: scopesTexts.title, render: ({ scopes }) => <ScopeSummary scopes={scopes} /> },
  {
    name: 'created',
    label: texts.created,
    isSortable: true,
    render: ({ created }) => <RelativeTime value={created} />,
  },
]

export function Page() {
  return (
    <TablePage
      title={pagesTexts.clients}
      text={texts.text}
      add={{ label: texts.add, dialog: AddClient }}
      queryKey={['client']}
      load={async (query, signal) => {
        const { entry } = await send<List<Client>>('GET', 'client', { signal })
        const sorts = { name: ({ name }: Client) => name.toLowerCase(), created: ({ created }: Client) => created }
        return listLocally(entry, query, { textOf: ({ name }) => name, sorts })
      }}
      rowKey={({ id }) => id}
      rowName={({ name }) => name}
      rowLink={({ id }) => ({ to: '/clients/$id', params: { id } })}
      columns={columns}
      defaultSort="name"
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    />
  )
}

function AddClient({ onClose }: { onClose(): void }) {
  const own = useOwnScopes()
  const candidates = own.filter((scope) => scope !== 'consumer')
  const queries = useQueryClient()
  const create = async ({ name, type, uris, scopes }: NewClientValues) => {
    const hasUris = type !== 'program'
    assertFields({
      name: name.trim() === '' && formTexts.name,
      redirect_uris: hasUris && urisProblem(uris),
      scopes: scopes.length === 0 && formTexts.scopes,
    })
    const body = {
      name: name.trim(),
      scopes,
      grants: hasUris ? ['authorization_code', 'refresh_token'] : ['client_credentials'],
      redirect_uris: readUris(uris),
      public: type === 'app',
    }
    const client = await sendForm<Client>('POST', 'client', body, clientRules)
    await queries.invalidateQueries({ queryKey: ['client'] })
    return client
  }
  return (
    <NewClient
      texts={{ ...texts, scopes: scopesTexts.title, created: texts.createdClient }}
      from={own}
      emptyText={scopesTexts.none}
      selected={candidates.length === 1 ? candidates : []}
      isCheckedLater
      onCreate={create}
      usage={(client) => (
        <ClientUsage client={client} {...(client.secret !== undefined && { secret: client.secret })} />
      )}
      onClose={onClose}
    />
  )
}
