import { Button, Radio, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type Answer, type Entry, type Input } from '../api/call.ts'
import {
  AccessDialog,
  AccessState,
  Name,
  quoteShell,
  ScopeSummary,
  tokenCommand,
  useRefreshAccess,
  useScopeOptions,
  type AccessAction,
  type Subject,
} from '../components/access.tsx'
import { announce } from '../components/announce.tsx'
import { State } from '../components/badge.tsx'
import { CodeBlock, CommandHint } from '../components/copy.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Dialog } from '../components/dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { ScopePicker } from '../components/scope-picker.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { RelativeTime } from '../components/time.tsx'
import { sessionStore } from '../session/session.ts'
import { useAdding } from '../components/use-adding.ts'
import { strings } from '../strings.ts'

type Client = Entry<'GET /client'>

const { access } = strings
const { clients: texts } = access

const columns: readonly Column<Client>[] = [
  { name: 'name', label: access.name, isSortable: true, render: ({ name }) => <Name text={name} /> },
  {
    name: 'owner',
    label: texts.owner,
    render: ({ user }) => (user === null ? <span className="soft">{texts.builtIn}</span> : <Name text={user} />),
  },
  {
    name: 'status',
    label: access.status,
    render: (client) => (
      <>
        <AccessState status={client.status} /> {client.public ? <State tone="quiet">{texts.public}</State> : null}
      </>
    ),
  },
  {
    name: 'scopes',
    label: access.scopes,
    render: ({ user, scopes }) => (user === null ? null : <ScopeSummary scopes={scopes} />),
  },
  {
    name: 'grants',
    label: texts.grants,
    isMinor: true,
    render: ({ grants }) => <span className="soft">{grants.join(', ')}</span>,
  },
  {
    name: 'created',
    label: access.created,
    isSortable: true,
    isMinor: true,
    render: ({ user, created_at: at }) => (user === null ? null : <RelativeTime value={at} />),
  },
]

export function Page() {
  const [isAdding, setAdding] = useAdding()
  const [acting, setActing] = useState<{ readonly subject: Subject; readonly action: AccessAction }>()
  const actionsOf = ({ id, name, status, user }: Client) => {
    const subject = { kind: 'client', key: id, name } as const
    const toggle = status === 'active' ? 'disable' : 'enable'
    const revoke = { label: access.act.revoke, isDanger: true, run: () => setActing({ subject, action: 'revoke' }) }
    if (user === null) return [revoke]
    const isDanger = toggle === 'disable'
    return [revoke, { label: access.act[toggle], isDanger, run: () => setActing({ subject, action: toggle }) }]
  }
  return (
    <>
      <PageHeader
        title={access.pages.clients}
        text={texts.text}
        mode={strings.mode.atOnce}
        action={<Button onClick={() => setAdding(true)}>{texts.add}</Button>}
      />
      <DataTable
        label={access.pages.clients}
        queryKey={['client']}
        load={(query, signal) => call('GET /client', { query: query as Input<'GET /client'>['query'] }, signal)}
        rowKey={({ id }) => id}
        rowName={({ name }) => name}
        rowLink={({ id }) => ({ to: '/clients/$id', params: { id } })}
        columns={columns}
        filters={[
          { name: 'search', label: access.name },
          { name: 'user', label: texts.owner },
          { name: 'scope', label: access.anyScope, options: useScopeOptions() },
          { name: 'status', label: access.status, options: { active: access.active, disabled: access.disabled } },
        ]}
        defaultSort="name"
        rowActions={actionsOf}
        empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
      />
      {isAdding ? <NewClient onClose={() => setAdding(false)} /> : null}
      {acting === undefined ? null : <AccessDialog {...acting} onClose={() => setActing(undefined)} />}
    </>
  )
}

const types = ['program', 'website', 'app'] as const

function NewClient({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('')
  const [user, setUser] = useState(sessionStore.get()?.user.name ?? '')
  const [type, setType] = useState<(typeof types)[number]>('program')
  const [uris, setUris] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>([])
  const [added, setAdded] = useState<Answer<'POST /client'>>()
  const navigate = useNavigate()
  const refresh = useRefreshAccess()
  const owner = useOwner(user)
  const redirectUris = type === 'program' ? [] : uris.split(/\s+/).filter((uri) => uri !== '')
  const open = (id: string) => void navigate({ to: '/clients/$id', params: { id } })
  const save = async () => {
    const body = {
      name,
      user,
      scopes: [...scopes],
      grants: [type === 'program' ? 'client_credentials' : 'authorization_code', 'refresh_token'],
      redirect_uris: redirectUris,
      public: type === 'app',
    }
    const answer = await call('POST /client', { body })
    announce(texts.created(name))
    await refresh()
    if (answer.client_secret === null) open(answer.client.id)
    else setAdded(answer)
  }
  if (added !== undefined) {
    const { client, client_secret: secret } = added
    return (
      <SecretOnce
        title={texts.created(name)}
        values={{ [texts.id]: client.id, [texts.secret]: secret ?? '' }}
        onClose={() => open(client.id)}
      >
        {type === 'program' ? (
          <section className="stack-small">
            <h3 className="strong">{texts.getToken}</h3>
            <CodeBlock
              label={texts.getToken}
              code={tokenCommand({ id: client.id, scopes: client.scopes, secret: secret ?? '' })}
            />
          </section>
        ) : null}
      </SecretOnce>
    )
  }
  return (
    <Dialog title={texts.add} size={520} onClose={onClose}>
      <SaveForm action={texts.create} isIncomplete={scopes.length === 0} onSave={save} onCancel={onClose}>
        {(errorOf) => (
          <>
            <TextInput
              label={access.name}
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
                {types.map((one) => (
                  <Radio key={one} value={one} label={texts.types[one]} description={texts.typeTexts[one]} size="xs" />
                ))}
              </div>
            </Radio.Group>
            {type === 'program' ? null : (
              <Textarea
                label={texts.redirectUris}
                description={texts.redirectText}
                name="redirect_uris"
                autosize
                minRows={2}
                value={uris}
                error={errorOf('redirect_uris')}
                onChange={(event) => setUris(event.currentTarget.value)}
                spellCheck={false}
              />
            )}
            <TextInput
              label={texts.owner}
              description={texts.ownerText}
              name="user"
              list="owners"
              value={user}
              error={errorOf('user') ?? (owner.isUnknown ? texts.noOwner : undefined)}
              onChange={(event) => setUser(event.currentTarget.value.trim())}
              autoComplete="off"
            />
            <datalist id="owners">
              {owner.names.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
            <ScopePicker
              label={access.scopes}
              name="scopes"
              description={texts.ownerScopes}
              value={scopes}
              from={owner.scopes}
              emptyText={owner.emptyText}
              onChange={setScopes}
              error={errorOf('scopes')}
            />
            {scopes.length > 0 || owner.scopes.length === 0 ? null : (
              <p className="warnings" role="note">
                {texts.withoutScopes}
              </p>
            )}
            <CommandHint
              command={[
                `waypost client:add ${name === '' ? 'NAME' : quoteShell(name)} --user ${quoteShell(user || 'NAME')}`,
                ...(scopes.length === 0 ? [] : [`--scopes ${quoteShell(scopes.join(','))}`]),
                ...(type === 'app' ? ['--public'] : []),
                ...redirectUris.map((uri) => `--redirect-uri ${quoteShell(uri)}`),
              ].join(' ')}
            />
          </>
        )}
      </SaveForm>
    </Dialog>
  )
}

const typingMs = 200

interface Owner {
  readonly names: readonly string[]
  readonly scopes: readonly string[]
  readonly isUnknown: boolean
  /** Why there are no scopes. */
  readonly emptyText: string
}

/** The users whose names contain a text, and the scopes of the one with this name or id. */
function useOwner(text: string): Owner {
  const [search] = useDebouncedValue(text, typingMs)
  const found = useQuery({
    queryKey: ['user', 'search', search],
    queryFn: ({ signal }) => call('GET /user', { query: { search, limit: '20' } }, signal),
    enabled: search !== '',
  })
  const isId = /^[\da-f-]{36}$/.test(search)
  const isName = found.data?.entry.some(({ name }) => name === search) === true
  const owner = useQuery({
    queryKey: ['user', 'owner', search],
    queryFn: ({ signal }) => call('GET /user/:user', { params: { user: search } }, signal),
    enabled: isId || isName,
  })
  const isUnknown = search !== '' && (isId ? owner.isError : found.isSuccess && !isName)
  return {
    names: found.data?.entry.map(({ name }) => name) ?? [],
    scopes: owner.data?.scopes ?? [],
    isUnknown,
    emptyText: isUnknown
      ? texts.noOwner
      : search === ''
        ? texts.chooseOwner
        : owner.isSuccess
          ? texts.noOwnerScopes
          : '',
  }
}
