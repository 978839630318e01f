import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { ScopeSummary } from '../../components/access.tsx'
import { announce } from '../../components/announce.tsx'
import { State } from '../../components/badge.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CodeBlock } from '../../components/copy.tsx'
import type { Column } from '../../components/data-table.tsx'
import { TablePage } from '../../components/table-page.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ScopePicker } from '../../components/scope-picker.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { signOut } from '../../session/session.ts'
import { callCommand, ClientName, nameOf, useOwnScopes, useSampleUrl } from '../access.tsx'
import type { Client, List, Token } from '../api.ts'
import { assertFields, sendForm } from '../form.ts'
import { config } from '../../config.ts'
import { formTexts, scopesTexts } from '../access-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

const texts = {
  text: 'Everything that can act for your account now. Revoke what you do not recognize. To sign out everywhere else,',
  changePassword: 'change your password',
  client: 'Client',
  scopes: 'Scopes',
  created: 'Created',
  expires: 'Expires',
  used: 'Last used',
  never: 'never',
  current: 'this session',
  renewable: 'renewable',
  signOut: 'Sign out',
  revoke: 'Revoke',
  revokeTitle: (client: string) => `Revoke this token of ${client}?`,
  revokeText: 'Requests with it are rejected immediately.',
  revokeFamily: 'The refresh token that renews it is revoked as well.',
  revokeBrowser: 'If another browser uses it, that browser is signed out.',
  revokeOwn: (client: string) =>
    `${client} can get new tokens with its secret. To prevent that, disable the client or give it a new secret.`,
  revoked: (client: string) => `Revoked a token of ${client}`,
  empty: 'No tokens',
  emptyText: 'Tokens appear here when you sign in and when programs get tokens for your account.',
  add: 'Create a token',
  addTitle: 'Create a token to try the API',
  addText: 'For manual calls, for example with curl. It is valid for 15 minutes. Programs get tokens with a client.',
  added: (minutes: number) => `Your token, valid for ${minutes} minutes`,
  token: 'Token',
  call: 'Call the API with it',
} as const

const columns: readonly Column<Token>[] = [
  {
    name: 'client',
    label: texts.client,
    render: ({ client, current, jti }) => (
      <span className="portal-token">
        <ClientName client={client} />
        {current ? <State tone="info">{texts.current}</State> : null}
        {jti === null ? <State tone="quiet">{texts.renewable}</State> : null}
      </span>
    ),
  },
  { name: 'scopes', label: texts.scopes, render: ({ scope }) => <ScopeSummary scopes={scopesOf(scope)} /> },
  { name: 'created', label: texts.created, render: ({ created }) => <RelativeTime value={created} /> },
  {
    name: 'used',
    label: texts.used,
    render: ({ last_used: used }) =>
      used === null ? <span className="soft">{texts.never}</span> : <RelativeTime value={used} />,
  },
  { name: 'expires', label: texts.expires, render: ({ expires }) => <RelativeTime value={expires} canBeFuture /> },
]

function scopesOf(text: string): readonly string[] {
  return text.split(' ').filter(Boolean)
}

const idOf = ({ jti, family }: Token) => jti ?? family ?? ''

export function Page() {
  const [revoking, setRevoking] = useState<Token>()
  return (
    <TablePage
      title={pagesTexts.tokens}
      text={
        <>
          {texts.text} <Link to="/account">{texts.changePassword}</Link>.
        </>
      }
      add={{ label: texts.add, dialog: NewToken }}
      queryKey={['token']}
      load={({ cursor }, signal) => send<List<Token>>('GET', 'token', { query: { cursor }, signal })}
      rowKey={idOf}
      rowName={(token) => `${nameOf(token.client)} ${idOf(token).slice(0, 8)}`}
      columns={columns}
      rowActions={(token) =>
        token.current
          ? [{ label: texts.signOut, run: () => void signOut() }]
          : [{ label: texts.revoke, isDanger: true, run: () => setRevoking(token) }]
      }
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    >
      {revoking === undefined ? null : <Revoke token={revoking} onClose={() => setRevoking(undefined)} />}
    </TablePage>
  )
}

function Revoke({ token, onClose }: { readonly token: Token; onClose(): void }) {
  const name = nameOf(token.client)
  const queries = useQueryClient()
  const clients = useQuery({
    queryKey: ['client', 'all'],
    queryFn: ({ signal }) => send<List<Client>>('GET', 'client', { signal }),
  })
  const isOwn = token.family === null && clients.data?.entry.some(({ id }) => id === token.client.id) === true
  return (
    <ConfirmDialog
      title={texts.revokeTitle(name)}
      action={texts.revoke}
      isDanger
      onConfirm={async () => {
        await send('DELETE', `token/${encodeURIComponent(idOf(token))}`)
        announce(texts.revoked(name))
        await queries.invalidateQueries()
      }}
      onClose={onClose}
    >
      <div className="stack-small">
        <p>
          {texts.revokeText} {token.family === null ? '' : texts.revokeFamily}
        </p>
        {token.client.id === config.clientId ? <p className="soft">{texts.revokeBrowser}</p> : null}
        {isOwn ? <p className="soft">{texts.revokeOwn(name)}</p> : null}
      </div>
    </ConfirmDialog>
  )
}

interface NewTokenResponse {
  readonly access_token: string
  /** Seconds. */
  readonly expires_in: number
  readonly scope: string
}

function NewToken({ onClose }: { onClose(): void }) {
  const own = useOwnScopes()
  const [scopes, setScopes] = useState(own.filter((scope) => scope !== 'consumer'))
  const [added, setAdded] = useState<NewTokenResponse>()
  const queries = useQueryClient()
  const url = useSampleUrl(scopes)
  if (added !== undefined) {
    const { access_token: token, expires_in: seconds } = added
    return (
      <SecretOnce title={texts.added(Math.round(seconds / 60))} values={{ [texts.token]: token }} onClose={onClose}>
        <section className="stack-small">
          <h3 className="strong">{texts.call}</h3>
          <CodeBlock label={texts.call} code={callCommand(url, token)} />
        </section>
      </SecretOnce>
    )
  }
  const save = async () => {
    assertFields({ scopes: scopes.length === 0 && formTexts.scopes })
    const rules = { codes: { WP_AUTH_TRY_SCOPE: 'scopes' }, texts: { scopes: formTexts.scopes } }
    setAdded(await sendForm<NewTokenResponse>('POST', 'token', { scopes }, rules))
    await queries.invalidateQueries({ queryKey: ['token'] })
  }
  return (
    <FormDialog title={texts.addTitle} size={480} action={texts.add} onSave={save} onClose={onClose}>
      {(errorOf) => (
        <>
          <p className="soft">{texts.addText}</p>
          <ScopePicker
            label={texts.scopes}
            name="scopes"
            value={scopes}
            from={own}
            emptyText={scopesTexts.none}
            onChange={(value) => setScopes([...value])}
            error={errorOf('scopes')}
          />
        </>
      )}
    </FormDialog>
  )
}
