import { Button, Checkbox, Skeleton, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call, callWithEtag, type ResponseOf } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import {
  AccessDialog,
  AccessState,
  AuditLink,
  describeEnded,
  quoteShell,
  ScopeSummary,
  TokenList,
  useAccessCount,
  useRefreshAccess,
  type AccessAction,
} from '../components/access.tsx'
import { announce } from '../components/announce.tsx'
import { CommandHint } from '../components/copy.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { ScopePicker } from '../components/scope-picker.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useEdit } from '../components/use-edit.ts'
import { accessTexts } from '../components/access-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { usersTexts as listTexts } from './user-texts.ts'

const { end } = accessTexts

const texts = {
  issue: 'Issue a token:',
  newPassword: 'New password',
  setPassword: 'Set password',
  passwordOf: (name: string) => `New password for ${name}`,
  passwordChanged: (name: string) => `Changed the password of ${name}`,
  keepTokens: 'Keep tokens valid. Sessions still end.',
  endClients: (what: string) => `Also disable ${what} with client_credentials, which need no password`,
  endSubscriptions: (what: string) => `Also disable ${what}`,
  clients: 'Clients',
  noClients: 'This user owns no clients.',
  all: 'Show all',
  createdAt: 'created',
} as const

type User = ResponseOf<'GET /user/:user'>

export function Page() {
  const { name = '' } = useParams({ strict: false })
  const [action, setAction] = useState<AccessAction | 'password'>()
  const user = useQuery({
    queryKey: ['user', name],
    queryFn: ({ signal }) => callWithEtag('GET /user/:user', { params: { user: name } }, { signal }),
  })
  const userError = loadingErrorOf(user)
  if (userError !== undefined) return <ProblemAlert error={userError} onRetry={() => void user.refetch()} />
  const found = user.data?.data
  const toggle = found?.status === 'disabled' ? 'enable' : 'disable'
  return (
    <>
      <PageHeader
        title={name}
        text={
          found === undefined ? undefined : (
            <span className="summary">
              <span>
                <AccessState status={found.status} />
              </span>
              <span>
                {texts.createdAt} <RelativeTime value={found.created_at} />
              </span>
            </span>
          )
        }
        mode={modeTexts.atOnce}
      >
        <AuditLink subject={name} />
        <Button variant="default" onClick={() => setAction('password')}>
          {texts.newPassword}
        </Button>
        <Button variant="default" onClick={() => setAction('revoke')}>
          {accessTexts.act.revoke}
        </Button>
        <Button variant="default" disabled={found === undefined} onClick={() => setAction(toggle)}>
          {accessTexts.act[toggle]}
        </Button>
      </PageHeader>
      {user.data === undefined ? (
        <Skeleton height={240} className="form" />
      ) : (
        <div className="page-columns">
          <UserForm key={user.data.data.id} user={user.data.data} etag={user.data.etag} />
          <div className="page-sections">
            <Clients user={name} />
            <TokenList of={{ user: name }} />
            <CommandHint label={texts.issue} command={`waypost token:issue --user ${quoteShell(name)}`} />
          </div>
        </div>
      )}
      {action === 'password' ? <NewPassword name={name} onClose={() => setAction(undefined)} /> : null}
      {action === undefined || action === 'password' ? null : (
        <AccessDialog
          subject={{ kind: 'user', key: name, name }}
          action={action}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  )
}

interface UserFields {
  readonly email: string
  readonly scopes: readonly string[]
}

function UserForm({ user, etag }: { readonly user: User; readonly etag: string | undefined }) {
  const refresh = useRefreshAccess()
  const params = { user: user.name }
  const edit = useEdit({
    record: user,
    etag,
    fieldsOf: ({ email, scopes }): UserFields => ({ email: email ?? '', scopes }),
    reload: () => callWithEtag('GET /user/:user', { params }),
    async save({ email, scopes }, ifMatch) {
      const body = { email: email === '' ? null : email, scopes: [...scopes] }
      const saved = await callWithEtag('PATCH /user/:user', { params, body }, { ifMatch })
      announce(accessTexts.saved)
      await refresh()
      return saved
    },
  })
  const { fields, before } = edit
  const added = fields.scopes.filter((scope) => !before.scopes.includes(scope))
  const removed = before.scopes.filter((scope) => !fields.scopes.includes(scope))
  const command = [
    `waypost user:scopes ${user.name}`,
    ...(added.length === 0 ? [] : [`--add ${quoteShell(added.join(','))}`]),
    ...(removed.length === 0 ? [] : [`--remove ${quoteShell(removed.join(','))}`]),
  ].join(' ')
  return (
    <section className="form" aria-label={pageTitles.user}>
      <SaveForm action={accessTexts.save} hasChanges={edit.hasChanges} onSave={edit.save}>
        {(errorOf) => (
          <>
            <TextInput
              label={accessTexts.email}
              name="email"
              type="email"
              placeholder={listTexts.optional}
              {...(before.email === fields.email || !edit.hasConflict
                ? {}
                : { description: accessTexts.now(before.email || accessTexts.empty) })}
              value={fields.email}
              error={errorOf('email')}
              onChange={(event) => edit.set({ email: event.currentTarget.value.trim() })}
              autoComplete="off"
            />
            <ScopePicker
              label={accessTexts.scopes}
              name="scopes"
              value={fields.scopes}
              before={before.scopes}
              onChange={(scopes) => edit.set({ scopes })}
              error={errorOf('scopes')}
            />
            {removed.length === 0 ? null : <p className="soft">{accessTexts.removes}</p>}
            {added.length + removed.length === 0 ? null : <CommandHint command={command} />}
          </>
        )}
      </SaveForm>
    </section>
  )
}

const shown = '5'

function Clients({ user }: { readonly user: string }) {
  const clients = useQuery({
    queryKey: ['client', 'of', user],
    queryFn: ({ signal }) => call('GET /client', { query: { user, limit: shown } }, signal),
  })
  return (
    <section>
      <div className="section-header">
        <h2>{texts.clients}</h2>
        {clients.data?.entry.length === 0 ? null : (
          <Link to="/clients" search={{ user }}>
            {texts.all}
          </Link>
        )}
      </div>
      {clients.isError ? <ProblemAlert error={clients.error} /> : null}
      {clients.data?.entry.length === 0 ? <p className="soft">{texts.noClients}</p> : null}
      <ul className="rows" hidden={clients.data?.entry.length === 0}>
        {clients.data?.entry.map(({ id, name, status, scopes }) => (
          <li key={id}>
            <Link to="/clients/$id" params={{ id }}>
              <bdi translate="no">{name}</bdi>
            </Link>
            <ScopeSummary scopes={scopes} />
            <AccessState status={status} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function NewPassword({ name, onClose }: { readonly name: string; onClose(): void }) {
  const [password, setPassword] = useState('')
  const [keepTokens, setKeepTokens] = useState(false)
  const [endClients, setEndClients] = useState(false)
  const [endSubscriptions, setEndSubscriptions] = useState(false)
  const [generated, setGenerated] = useState<string>()
  const count = useAccessCount({ kind: 'user', key: name, name }).data
  const refresh = useRefreshAccess()
  const save = async () => {
    const changed = await call('POST /user/:user/password', {
      params: { user: name },
      body: {
        ...(password === '' ? {} : { password }),
        keep_tokens: keepTokens,
        end_clients: endClients,
        end_subscriptions: endSubscriptions,
      },
    })
    announce(texts.passwordChanged(name))
    await refresh()
    if (changed.password === null) onClose()
    else setGenerated(changed.password)
  }
  if (generated !== undefined) {
    const values = { [listTexts.username]: name, [listTexts.password]: generated }
    return <SecretOnce title={texts.passwordOf(name)} values={values} onClose={onClose} />
  }
  const ended = count && describeEnded({ ...count, tokens: keepTokens ? 0 : count.tokens }, ['tokens', 'sessions'])
  return (
    <FormDialog title={texts.passwordOf(name)} size={480} action={texts.setPassword} onSave={save} onClose={onClose}>
      {(errorOf) => (
        <>
          <TextInput
            label={listTexts.password}
            description={listTexts.passwordText}
            name="password"
            type="password"
            value={password}
            error={errorOf('password')}
            onChange={(event) => setPassword(event.currentTarget.value)}
            autoComplete="new-password"
            data-autofocus
          />
          <p className={ended === undefined ? 'soft' : 'strong'}>
            {count === undefined ? end.counting : ended === undefined ? end.nothing : end.ends(ended)}
          </p>
          <Checkbox
            label={texts.keepTokens}
            checked={keepTokens}
            onChange={(event) => setKeepTokens(event.currentTarget.checked)}
          />
          {count === undefined || count.clients === 0 ? null : (
            <Checkbox
              label={texts.endClients(end.clients(count.clients))}
              checked={endClients}
              onChange={(event) => setEndClients(event.currentTarget.checked)}
            />
          )}
          {count === undefined || count.subscriptions === 0 ? null : (
            <Checkbox
              label={texts.endSubscriptions(end.subscriptions(count.subscriptions))}
              checked={endSubscriptions}
              onChange={(event) => setEndSubscriptions(event.currentTarget.checked)}
            />
          )}
          <CommandHint
            command={[
              `waypost user:password ${name}`,
              ...(password === '' ? [] : ['--password-stdin']),
              ...(keepTokens ? ['--keep-tokens'] : []),
              ...(endClients ? ['--end-clients'] : []),
              ...(endSubscriptions ? ['--end-subscriptions'] : []),
            ].join(' ')}
          />
        </>
      )}
    </FormDialog>
  )
}
