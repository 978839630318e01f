import { Button, Radio, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { AccessState, Name, ScopeSummary } from '../../components/access.tsx'
import { announce } from '../../components/announce.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { listLocally } from '../../components/local-list.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { SaveForm } from '../../components/save-form.tsx'
import { ScopePicker } from '../../components/scope-picker.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useAdding } from '../../components/use-adding.ts'
import { useOwnScopes } from '../access.tsx'
import type { Client, List } from '../api.ts'
import { clientTypes, ClientUsage, typeOf, type ClientType } from '../client-usage.tsx'
import { assertFields, clientRules, readUris, sendForm, urisProblem } from '../form.ts'
import { access } from '../strings/access.ts'
import { shell } from '../strings/shell.ts'

const { clients: texts } = access

const columns: readonly Column<Client>[] = [
  { name: 'name', label: texts.name, isSortable: true, render: ({ name }) => <Name text={name} /> },
  {
    name: 'type',
    label: texts.typeLabel,
    render: (client) => <span className="nowrap">{texts.shortTypes[typeOf(client)]}</span>,
  },
  { name: 'status', label: texts.status, render: ({ status }) => <AccessState status={status} /> },
  { name: 'scopes', label: access.scopes.title, render: ({ scopes }) => <ScopeSummary scopes={scopes} /> },
  {
    name: 'created',
    label: texts.created,
    isSortable: true,
    render: ({ created }) => <RelativeTime value={created} />,
  },
]

export function Page() {
  const [isAdding, setAdding] = useAdding()
  const add = <Button onClick={() => setAdding(true)}>{texts.add}</Button>
  return (
    <>
      <PageHeader title={shell.pages.clients} text={texts.text} action={add} />
      <DataTable
        label={shell.pages.clients}
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
      {isAdding ? <NewClient onClose={() => setAdding(false)} /> : null}
    </>
  )
}

function NewClient({ onClose }: { onClose(): void }) {
  const own = useOwnScopes()
  const candidates = own.filter((scope) => scope !== 'consumer')
  const [name, setName] = useState('')
  const [type, setType] = useState<ClientType>('program')
  const [uris, setUris] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(candidates.length === 1 ? candidates : [])
  const [added, setAdded] = useState<Client>()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const open = (id: string) => void navigate({ to: '/clients/$id', params: { id } })
  const save = async () => {
    const hasUris = type !== 'program'
    assertFields({
      name: name.trim() === '' && access.form.name,
      redirect_uris: hasUris && urisProblem(uris),
      scopes: scopes.length === 0 && access.form.scopes,
    })
    const body = {
      name: name.trim(),
      scopes,
      grants: hasUris ? ['authorization_code', 'refresh_token'] : ['client_credentials'],
      redirect_uris: hasUris ? readUris(uris) : [],
      public: type === 'app',
    }
    const client = await sendForm<Client>('POST', 'client', body, clientRules)
    announce(texts.createdClient(client.name))
    await queries.invalidateQueries({ queryKey: ['client'] })
    if (client.secret === undefined) open(client.id)
    else setAdded(client)
  }
  if (added?.secret !== undefined) {
    return (
      <SecretOnce
        title={texts.createdClient(added.name)}
        values={{ [texts.id]: added.id, [texts.secret]: added.secret }}
        onClose={() => open(added.id)}
      >
        <ClientUsage client={added} secret={added.secret} />
      </SecretOnce>
    )
  }
  return (
    <Dialog title={texts.add} size={560} onClose={onClose}>
      <SaveForm action={texts.create} onSave={save} onCancel={onClose}>
        {(errorOf) => (
          <>
            <TextInput
              label={texts.name}
              description={type === 'program' ? undefined : texts.nameText}
              name="name"
              dir="auto"
              value={name}
              error={errorOf('name')}
              onChange={(event) => setName(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
            <Radio.Group
              label={texts.type}
              name="grants"
              value={type}
              onChange={(value) => setType(value)}
              error={errorOf('grants')}
            >
              <div className="choices">
                {clientTypes.map((one) => (
                  <Radio key={one} value={one} label={texts.types[one]} description={texts.typeTexts[one]} />
                ))}
              </div>
            </Radio.Group>
            {type === 'program' ? null : (
              <RedirectUris value={uris} error={errorOf('redirect_uris')} onChange={setUris} />
            )}
            <ScopePicker
              label={access.scopes.title}
              name="scopes"
              description={texts.scopesText}
              value={scopes}
              from={own}
              emptyText={access.scopes.none}
              onChange={setScopes}
              error={errorOf('scopes')}
            />
          </>
        )}
      </SaveForm>
    </Dialog>
  )
}

interface RedirectUrisProps {
  readonly value: string
  readonly error: string | undefined
  onChange(value: string): void
}

/** One redirect URI on each line. */
export function RedirectUris({ value, error, onChange }: RedirectUrisProps) {
  return (
    <Textarea
      label={texts.redirectUris}
      description={texts.redirectText}
      placeholder={texts.redirectExample}
      name="redirect_uris"
      autosize
      minRows={2}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
      spellCheck={false}
    />
  )
}
