import { Button, TextInput } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type ResponseOf, type Entry, type Input } from '../api/call.ts'
import { AccessDialog, ScopeSummary, useRefreshAccess, type Subject } from '../components/access.tsx'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import type { Column } from '../components/data-table.tsx'
import { TablePage } from '../components/table-page.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RelativeTime } from '../components/time.tsx'
import { accessTexts } from '../components/access-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { operateTexts } from '../components/operate-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { tokensTexts as texts } from './token-texts.ts'

type Token = Entry<'GET /token'>
/** A token from the list, or one that was pasted. */
type Shown = Token | ResponseOf<'POST /token/find'>

const columns: readonly Column<Token>[] = [
  {
    name: 'token',
    label: texts.token,
    render: ({ jti }) => (
      <span translate="no" className="mono" title={jti}>
        {shorten(jti)}
      </span>
    ),
  },
  {
    name: 'user',
    label: texts.user,
    render: ({ user: name }) => (
      <Link to="/users/$name" params={{ name }} className="ellipsis">
        <bdi translate="no">{name}</bdi>
      </Link>
    ),
  },
  {
    name: 'client',
    label: texts.client,
    render: ({ client: { id, name } }) => (
      <Link to="/clients/$id" params={{ id }} className="ellipsis">
        <bdi translate="no">{name}</bdi>
      </Link>
    ),
  },
  { name: 'scopes', label: accessTexts.scopes, render: ({ scopes }) => <ScopeSummary scopes={scopes} /> },
  {
    name: 'created',
    label: accessTexts.created,
    isMinor: true,
    render: ({ created_at: at }) => <RelativeTime value={at} />,
  },
  {
    name: 'used',
    label: texts.used,
    isMinor: true,
    render: ({ used_at: at }) =>
      at === null ? <span className="soft">{texts.unused}</span> : <RelativeTime value={at} />,
  },
  {
    name: 'expires',
    label: texts.expires,
    isSortable: true,
    render: ({ expires_at: at }) => <RelativeTime value={at} canBeFuture />,
  },
]

export function Page() {
  const { user = '', client = '' }: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const [target, setTarget] = useState<Shown>()
  const [subject, setSubject] = useState<Subject>()
  const [isPasting, setPasting] = useState(false)
  const filtered: Subject | undefined =
    client !== ''
      ? { kind: 'client', key: client, name: client }
      : user !== ''
        ? { kind: 'user', key: user, name: user }
        : undefined
  return (
    <TablePage
      title={pageTitles.tokens}
      text={texts.text}
      mode={modeTexts.atOnce}
      actions={
        <>
          {filtered === undefined ? null : (
            <Button variant="default" onClick={() => setSubject(filtered)}>
              {texts.revokeAll(shorten(filtered.name))}
            </Button>
          )}
          <Button onClick={() => setPasting(true)}>{texts.revokeToken}</Button>
        </>
      }
      queryKey={['token']}
      load={(query, signal) => call('GET /token', { query: query as Input<'GET /token'>['query'] }, signal)}
      rowKey={({ jti }) => jti}
      rowName={({ jti }) => shorten(jti)}
      columns={columns}
      filters={[
        { name: 'user', label: texts.user },
        { name: 'client', label: texts.client },
      ]}
      defaultSort="-expires"
      rowActions={(token) => [{ label: texts.revoke, isDanger: true, run: () => setTarget(token) }]}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    >
      {target === undefined ? null : <RevokeDialog token={target} onClose={() => setTarget(undefined)} />}
      {subject === undefined ? null : (
        <AccessDialog subject={subject} action="revoke" onClose={() => setSubject(undefined)} />
      )}
      {isPasting ? (
        <PasteToken
          onFound={(token) => {
            setPasting(false)
            setTarget(token)
          }}
          onClose={() => setPasting(false)}
        />
      ) : null}
    </TablePage>
  )
}

function shorten(text: string): string {
  return /^[\da-f-]{36}$/.test(text) ? text.slice(0, 8) : text
}

/** Shows whose token it is before it is revoked. */
function RevokeDialog({ token, onClose }: { readonly token: Shown; onClose(): void }) {
  const { jti, user, client, scopes, expires_at: expires } = token
  const refresh = useRefreshAccess()
  const status = 'status' in token ? token.status : 'valid'
  const names = { user: user ?? operateTexts.deleted, client: client ?? { name: operateTexts.deleted } }
  return (
    <ConfirmDialog
      title={texts.revokeTitle(shorten(jti))}
      action={texts.revoke}
      command={`waypost token:revoke ${jti}`}
      isDanger
      isDisabled={status !== 'valid'}
      onConfirm={async () => {
        const { tokens } = await call('POST /token/revoke', { body: { token: jti } })
        announce(texts.revoked(tokens, names))
        await refresh()
      }}
      onClose={onClose}
    >
      <div className="stack">
        <dl className="facts">
          <dt>{texts.owner}</dt>
          <dd>
            <bdi translate="no">{names.user}</bdi>
          </dd>
          <dt>{texts.client}</dt>
          <dd>
            <bdi translate="no">{names.client.name}</bdi>
          </dd>
          <dt>{accessTexts.scopes}</dt>
          <dd>{scopes.length === 0 ? '–' : <bdi translate="no">{scopes.join(', ')}</bdi>}</dd>
          <dt>{texts.expires}</dt>
          <dd>
            <RelativeTime value={expires} canBeFuture />
          </dd>
        </dl>
        <p>{status === 'valid' ? texts.revokeText(names.user, names.client.name) : texts.ended[status]}</p>
      </div>
    </ConfirmDialog>
  )
}

interface PasteTokenProps {
  onFound(token: ResponseOf<'POST /token/find'>): void
  onClose(): void
}

function PasteToken({ onFound, onClose }: PasteTokenProps) {
  const [token, setToken] = useState('')
  const find = async () => onFound(await call('POST /token/find', { body: { token } }))
  return (
    <FormDialog title={texts.pasteTitle} size={480} action={texts.find} onSave={find} onClose={onClose}>
      {(errorOf) => (
        <TextInput
          label={texts.paste}
          description={texts.pasteText}
          name="token"
          value={token}
          error={errorOf('token')}
          onChange={(event) => setToken(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
    </FormDialog>
  )
}
