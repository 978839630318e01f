import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call, type ResponseOf } from '../api/call.ts'
import { config, issuer } from '../config.ts'
import { sessionStore } from '../session/session.ts'
import { announce } from './announce.tsx'
import { State } from './badge.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { CopyText } from './copy.tsx'
import { ProblemAlert } from './problem.tsx'
import { RelativeTime } from './time.tsx'
import { accessTexts } from './access-texts.ts'
import { tokensTexts } from '../pages/token-texts.ts'

// What the pages of users, clients, tokens and scopes share.

export type Ended = ResponseOf<'GET /user/:user/access'>

export function AccessState({ status }: { readonly status: 'active' | 'disabled' }) {
  return status === 'active' ? <>{accessTexts.active}</> : <State tone="warn">{accessTexts.disabled}</State>
}

const backendScopes = ['admin', 'data', 'deploy', 'operate', 'read', 'write'].map((name) => `backend.${name}`)
const maxShown = 3

export function isBackendScope(scope: string): boolean {
  return scope.startsWith('backend.')
}

/** Whether these are all scopes of administration. */
export function isFullAdministrator(scopes: readonly string[]): boolean {
  return backendScopes.every((scope) => scopes.includes(scope))
}

interface AuditLinkProps {
  readonly subject: string
  /** The key of a row. */
  readonly id?: string
}

/** A link to the changes of a user, client or row. */
export function AuditLink({ subject, id }: AuditLinkProps) {
  const search = { subject, ...(id !== undefined && { subject_id: id }) }
  return (
    <Button variant="subtle" color="gray" renderRoot={(props) => <Link to="/audit" search={search} {...props} />}>
      {accessTexts.auditLog}
    </Button>
  )
}

/** A text that users chose, in one line; the whole is in its tooltip. */
export function Name({ text }: { readonly text: string }) {
  return (
    <bdi translate="no" className="ellipsis" title={text}>
      {text}
    </bdi>
  )
}

/** Some scopes in one line: those of the project first, `backend.*` for all of administration. */
export function ScopeSummary({ scopes }: { readonly scopes: readonly string[] }) {
  const own = scopes.filter((scope) => !isBackendScope(scope))
  const administration = isFullAdministrator(scopes) ? ['backend.*'] : scopes.filter(isBackendScope)
  const all = [...administration, ...own]
  if (all.length === 0) return <span className="soft">{accessTexts.noScopes}</span>
  const rest = all.length - maxShown
  return (
    <span className="scopes" title={scopes.join(', ')}>
      {all.slice(0, maxShown).map((scope) => (
        <code translate="no" key={scope} className="scope">
          {scope}
        </code>
      ))}
      {rest > 0 ? <span className="soft">{accessTexts.more(rest)}</span> : null}
    </span>
  )
}

/** The scopes that can be granted, for choices and filters. */
export function useScopes() {
  return useQuery({
    queryKey: ['scope', 'list'],
    queryFn: ({ signal }) => call('GET /scope', {}, signal),
    staleTime: 60_000,
  })
}

/** The options of a filter by scope. */
export function useScopeOptions(): Readonly<Record<string, string>> {
  return Object.fromEntries((useScopes().data?.entry ?? []).map(({ name }) => [name, name]))
}

/** Returns a function that loads everything again that a change of access can affect. */
export function useRefreshAccess(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () =>
    Promise.all(['user', 'client', 'token', 'scope'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
}

/** Lists what an action ends: "3 tokens and 1 session"; undefined if nothing. */
export function describeEnded(ended: Ended, kinds: readonly (keyof Ended)[]): string | undefined {
  const parts = kinds.flatMap((kind) => (ended[kind] === 0 ? [] : [accessTexts.end[kind](ended[kind])]))
  return parts.length === 0 ? undefined : new Intl.ListFormat('en').format(parts)
}

/** A user or client that an action is about. */
export interface Subject {
  readonly kind: 'user' | 'client'
  /** The name of a user, the id of a client. */
  readonly key: string
  readonly name: string
}

/** Counts what would be ended now. */
export function useAccessCount({ kind, key }: Subject, isEnabled = true) {
  return useQuery({
    queryKey: [kind, key, 'access'],
    queryFn: ({ signal }) =>
      kind === 'user'
        ? call('GET /user/:user/access', { params: { user: key } }, signal)
        : call('GET /client/:id/access', { params: { id: key } }, signal),
    staleTime: 0,
    enabled: isEnabled,
  })
}

export type AccessAction = 'disable' | 'enable' | 'revoke'

interface AccessDialogProps {
  readonly subject: Subject
  readonly action: AccessAction
  onClose(): void
}

/** Asks before a user or client is disabled or enabled or its access is revoked. Says what this ends. */
export function AccessDialog({ subject, action, onClose }: AccessDialogProps) {
  const { kind, key, name } = subject
  const refresh = useRefreshAccess()
  const count = useAccessCount(subject, action !== 'enable')
  const label = accessTexts.act[action]
  const confirm = async () => {
    const ended = await act(subject, action)
    announce(`${accessTexts.act.done[action]} ${name}${describeDone(ended, kind)}`)
    await refresh()
  }
  return (
    <ConfirmDialog
      title={accessTexts.act.title(label, name)}
      action={`${label}${action === 'revoke' ? '' : ` ${name}`}`}
      command={commandOf(subject, action)}
      isDanger={action !== 'enable'}
      onConfirm={confirm}
      onClose={onClose}
    >
      <div className="stack-small">
        {action === 'enable' ? null : <Consequence ended={count.data} kind={kind} action={action} />}
        <p>{accessTexts.act[`${action}${kind === 'user' ? 'User' : 'Client'}`]}</p>
        {kind === 'user' && action !== 'enable' && sessionStore.get()?.user.name === key ? (
          <p className="warnings">{accessTexts.end.self}</p>
        ) : null}
      </div>
    </ConfirmDialog>
  )
}

function Consequence({
  ended,
  kind,
  action,
}: {
  readonly ended: Ended | undefined
  readonly kind: Subject['kind']
  readonly action: AccessAction
}) {
  if (ended === undefined) return <p className="soft">{accessTexts.end.counting}</p>
  const what = describeEnded(ended, endedKinds(kind, action))
  return <p className="strong">{what === undefined ? accessTexts.end.nothing : accessTexts.end.ends(what)}</p>
}

function endedKinds(kind: Subject['kind'], action: AccessAction): readonly (keyof Ended)[] {
  if (kind === 'user') return ['tokens', 'sessions']
  return action === 'disable' ? ['tokens', 'subscriptions'] : ['tokens']
}

function describeDone(ended: Ended | undefined, kind: Subject['kind']): string {
  const what = ended && describeEnded(ended, ['tokens', kind === 'user' ? 'sessions' : 'subscriptions'])
  return what === undefined ? '' : `. ${accessTexts.end.done(what)}`
}

async function act({ kind, key }: Subject, action: AccessAction): Promise<Ended | undefined> {
  if (action === 'revoke') {
    return call('POST /token/revoke', { body: kind === 'user' ? { user: key } : { client: key } })
  }
  if (kind === 'user') {
    const params = { user: key }
    if (action === 'disable') return (await call('POST /user/:user/disable', { params })).ended
    await call('POST /user/:user/enable', { params })
    return undefined
  }
  const params = { id: key }
  if (action === 'disable') return (await call('POST /client/:id/disable', { params })).ended
  await call('POST /client/:id/enable', { params })
  return undefined
}

function commandOf({ kind, key }: Subject, action: AccessAction): string {
  if (action === 'revoke') return `waypost token:revoke --${kind} ${key}`
  return `waypost ${kind}:disable ${key}${action === 'enable' ? ' --enable' : ''}`
}

const shownTokens = '5'

/** The valid tokens of a user or client that were issued last, with a link to all. */
export function TokenList({ of }: { readonly of: { readonly user: string } | { readonly client: string } }) {
  const tokens = useQuery({
    queryKey: ['token', 'of', of],
    queryFn: ({ signal }) => call('GET /token', { query: { ...of, limit: shownTokens } }, signal),
  })
  const entry = tokens.data?.entry ?? []
  return (
    <section>
      <div className="section-header">
        <h2>{tokensTexts.valid}</h2>
        {entry.length === 0 ? null : (
          <Link to="/tokens" search={of}>
            {tokensTexts.all}
          </Link>
        )}
      </div>
      {tokens.isError ? <ProblemAlert error={tokens.error} /> : null}
      {tokens.data === undefined || entry.length > 0 ? null : <p className="soft">{tokensTexts.none}</p>}
      <ul className="rows" hidden={entry.length === 0}>
        {entry.map(({ jti, user, client, scopes, expires_at: expires }) => (
          <li key={jti}>
            <CopyText value={jti} isMono label={tokensTexts.token}>
              {jti.slice(0, 8)}
            </CopyText>
            <bdi translate="no" className="ellipsis">
              {'user' in of ? client.name : user}
            </bdi>
            <ScopeSummary scopes={scopes} />
            <span>
              <span className="soft">{tokensTexts.expires}</span> <RelativeTime value={expires} canBeFuture />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Quotes a text for a POSIX shell, if necessary. */
export function quoteShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A command that gets a token for a client with its secret. */
export function tokenCommand({
  id,
  scopes,
  secret,
}: {
  id: string
  scopes: readonly string[]
  secret?: string
}): string {
  const credentials = secret === undefined ? `"${id}:$CLIENT_SECRET"` : quoteShell(`${id}:${secret}`)
  return [
    `curl -u ${credentials}`,
    '  -d grant_type=client_credentials',
    ...(scopes.length === 0 ? [] : [`  --data-urlencode ${quoteShell(`scope=${scopes.join(' ')}`)}`]),
    `  ${quoteShell(`${issuer}/authorization/token`)}`,
  ].join(' \\\n')
}

/** The address to which a client sends users who sign in. */
export function authorizeAddress({ id, uri, scopes }: { id: string; uri: string; scopes: readonly string[] }): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: uri,
    scope: scopes.join(' '),
  })
  const address = config.isDevelopment ? issuer : config.issuer
  return `${address}/authorization/authorize?${query.toString()}&state=…&code_challenge=…&code_challenge_method=S256`
}
