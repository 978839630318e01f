import { TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Entry, type Input } from '../api/call.ts'
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
import { State } from '../components/badge.tsx'
import { CodeBlock, CommandHint } from '../components/copy.tsx'
import type { Column } from '../components/data-table.tsx'
import { TablePage } from '../components/table-page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { NewClient, type NewClientValues } from '../components/new-client.tsx'
import { readUris } from '../components/redirect-uris.tsx'
import { RelativeTime } from '../components/time.tsx'
import { sessionStore } from '../session/session.ts'
import { accessTexts } from '../components/access-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { clientsTexts as texts } from './client-texts.ts'

type Client = Entry<'GET /client'>

const columns: readonly Column<Client>[] = [
  { name: 'name', label: accessTexts.name, isSortable: true, render: ({ name }) => <Name text={name} /> },
  {
    name: 'owner',
    label: texts.owner,
    render: ({ user }) => (user === null ? <span className="soft">{texts.builtIn}</span> : <Name text={user} />),
  },
  {
    name: 'status',
    label: accessTexts.status,
    render: (client) => (
      <>
        <AccessState status={client.status} /> {client.public ? <State tone="quiet">{texts.public}</State> : null}
      </>
    ),
  },
  {
    name: 'scopes',
    label: accessTexts.scopes,
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
    label: accessTexts.created,
    isSortable: true,
    isMinor: true,
    render: ({ user, created_at: at }) => (user === null ? null : <RelativeTime value={at} />),
  },
]

export function Page() {
  const [acting, setActing] = useState<{ readonly subject: Subject; readonly action: AccessAction }>()
  const actionsOf = ({ id, name, status, user }: Client) => {
    const subject = { kind: 'client', key: id, name } as const
    const toggle = status === 'active' ? 'disable' : 'enable'
    const revoke = {
      label: accessTexts.act.revoke,
      isDanger: true,
      run: () => setActing({ subject, action: 'revoke' }),
    }
    if (user === null) return [revoke]
    const isDanger = toggle === 'disable'
    return [revoke, { label: accessTexts.act[toggle], isDanger, run: () => setActing({ subject, action: toggle }) }]
  }
  return (
    <TablePage
      title={pageTitles.clients}
      text={texts.text}
      mode={modeTexts.atOnce}
      add={{ label: texts.add, dialog: AddClient }}
      queryKey={['client']}
      load={(query, signal) => call('GET /client', { query: query as Input<'GET /client'>['query'] }, signal)}
      rowKey={({ id }) => id}
      rowName={({ name }) => name}
      rowLink={({ id }) => ({ to: '/clients/$id', params: { id } })}
      columns={columns}
      filters={[
        { name: 'search', label: accessTexts.name },
        { name: 'user', label: texts.owner },
        { name: 'scope', label: accessTexts.anyScope, options: useScopeOptions() },
        {
          name: 'status',
          label: accessTexts.status,
          options: { active: accessTexts.active, disabled: accessTexts.disabled },
        },
      ]}
      defaultSort="name"
      rowActions={actionsOf}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    >
      {acting === undefined ? null : <AccessDialog {...acting} onClose={() => setActing(undefined)} />}
    </TablePage>
  )
}

function AddClient({ onClose }: { onClose(): void }) {
  const [user, setUser] = useState(sessionStore.get()?.user.name ?? '')
  const refresh = useRefreshAccess()
  const owner = useOwner(user)
  const create = async ({ name, type, uris, scopes }: NewClientValues) => {
    const body = {
      name,
      user,
      scopes: [...scopes],
      grants: [type === 'program' ? 'client_credentials' : 'authorization_code', 'refresh_token'],
      redirect_uris: [...readUris(uris)],
      public: type === 'app',
    }
    const { client, client_secret: secret } = await call('POST /client', { body })
    await refresh()
    return { ...client, secret: secret ?? undefined }
  }
  return (
    <NewClient
      texts={{ ...texts, name: accessTexts.name, scopes: accessTexts.scopes, scopesText: texts.ownerScopes }}
      from={owner.scopes}
      emptyText={owner.emptyText}
      onCreate={create}
      usage={({ id, scopes, secret = '' }, type) =>
        type === 'program' ? (
          <section className="stack-small">
            <h3 className="strong">{texts.getToken}</h3>
            <CodeBlock label={texts.getToken} code={tokenCommand({ id, scopes, secret })} />
          </section>
        ) : null
      }
      owner={(errorOf) => <OwnerField owner={owner} value={user} error={errorOf('user')} onChange={setUser} />}
      end={(values) => (
        <>
          {values.scopes.length > 0 || owner.scopes.length === 0 ? null : (
            <p className="warnings" role="note">
              {texts.withoutScopes}
            </p>
          )}
          <CommandHint command={addCommand(values, user)} />
        </>
      )}
      onClose={onClose}
    />
  )
}

function addCommand({ name, type, uris, scopes }: NewClientValues, user: string): string {
  return [
    `waypost client:add ${name === '' ? 'NAME' : quoteShell(name)} --user ${quoteShell(user || 'NAME')}`,
    ...(scopes.length === 0 ? [] : [`--scopes ${quoteShell(scopes.join(','))}`]),
    ...(type === 'app' ? ['--public'] : []),
    ...readUris(uris).map((uri) => `--redirect-uri ${quoteShell(uri)}`),
  ].join(' ')
}

interface OwnerFieldProps {
  readonly owner: Owner
  readonly value: string
  readonly error: string | undefined
  onChange(user: string): void
}

function OwnerField({ owner, value, error, onChange }: OwnerFieldProps) {
  return (
    <>
      <TextInput
        label={texts.owner}
        description={texts.ownerText}
        name="user"
        list="owners"
        value={value}
        error={error ?? (owner.isUnknown ? texts.noOwner : undefined)}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
        autoComplete="off"
      />
      <datalist id="owners">
        {owner.names.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
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
