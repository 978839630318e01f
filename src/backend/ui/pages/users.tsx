import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type Entry, type Input } from '../api/call.ts'
import {
  AccessDialog,
  AccessState,
  isBackendScope,
  isFullAdministrator,
  Name,
  quoteShell,
  ScopeSummary,
  useRefreshAccess,
  useScopeOptions,
  useScopes,
  type AccessAction,
  type Subject,
} from '../components/access.tsx'
import { announce } from '../components/announce.tsx'
import { CommandHint } from '../components/copy.tsx'
import type { Column } from '../components/data-table.tsx'
import { TablePage } from '../components/table-page.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ScopePicker } from '../components/scope-picker.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { RelativeTime } from '../components/time.tsx'
import { accessTexts } from '../components/access-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { usersTexts as texts } from './user-texts.ts'

type User = Entry<'GET /user'>

const columns: readonly Column<User>[] = [
  { name: 'name', label: accessTexts.name, isSortable: true, render: ({ name }) => <Name text={name} /> },
  {
    name: 'email',
    label: accessTexts.email,
    isMinor: true,
    render: ({ email }) => (email === null ? null : <Name text={email} />),
  },
  { name: 'status', label: accessTexts.status, render: ({ status }) => <AccessState status={status} /> },
  { name: 'scopes', label: accessTexts.scopes, render: ({ scopes }) => <ScopeSummary scopes={scopes} /> },
  {
    name: 'created',
    label: accessTexts.created,
    isSortable: true,
    isMinor: true,
    render: ({ created_at: at }) => <RelativeTime value={at} />,
  },
]

export function Page() {
  const [acting, setActing] = useState<{ readonly subject: Subject; readonly action: AccessAction }>()
  const actionsOf = ({ name, status }: User) => {
    const subject = { kind: 'user', key: name, name } as const
    const toggle = status === 'active' ? 'disable' : 'enable'
    return [
      { label: accessTexts.act.revoke, isDanger: true, run: () => setActing({ subject, action: 'revoke' }) },
      {
        label: accessTexts.act[toggle],
        isDanger: toggle === 'disable',
        run: () => setActing({ subject, action: toggle }),
      },
    ]
  }
  return (
    <TablePage
      title={pageTitles.users}
      text={texts.text}
      mode={modeTexts.atOnce}
      add={{ label: texts.add, dialog: NewUser }}
      queryKey={['user']}
      load={(query, signal) => call('GET /user', { query: query as Input<'GET /user'>['query'] }, signal)}
      rowKey={({ name }) => name}
      rowLink={({ name }) => ({ to: '/users/$name', params: { name } })}
      columns={columns}
      filters={[
        { name: 'search', label: texts.search },
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

function NewUser({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [picked, setPicked] = useState<readonly string[]>()
  const defaults = useScopes().data?.defaults
  const scopes = picked ?? defaults ?? []
  const [generated, setGenerated] = useState<string>()
  const navigate = useNavigate()
  const refresh = useRefreshAccess()
  const open = () => void navigate({ to: '/users/$name', params: { name } })
  const save = async () => {
    const body = {
      name,
      ...(picked === undefined && defaults === undefined ? {} : { scopes: [...scopes] }),
      ...(email === '' ? {} : { email }),
      ...(password === '' ? {} : { password }),
    }
    const added = await call('POST /user', { body })
    announce(texts.created(name))
    await refresh()
    if (added.password === null) open()
    else setGenerated(added.password)
  }
  if (generated !== undefined) {
    return (
      <SecretOnce
        title={texts.created(name)}
        values={{ [texts.username]: name, [texts.password]: generated }}
        onClose={open}
      />
    )
  }
  return (
    <FormDialog title={texts.add} size={520} action={texts.create} onSave={save} onClose={onClose}>
      {(errorOf) => (
        <>
          <TextInput
            label={accessTexts.name}
            name="name"
            value={name}
            error={errorOf('name')}
            onChange={(event) => setName(event.currentTarget.value.trim())}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <TextInput
            label={accessTexts.email}
            name="email"
            type="email"
            placeholder={texts.optional}
            value={email}
            error={errorOf('email')}
            onChange={(event) => setEmail(event.currentTarget.value.trim())}
            autoComplete="off"
          />
          <TextInput
            label={texts.password}
            description={texts.passwordText}
            name="password"
            type="password"
            value={password}
            error={errorOf('password')}
            onChange={(event) => setPassword(event.currentTarget.value)}
            autoComplete="new-password"
          />
          <ScopePicker
            label={accessTexts.scopes}
            name="scopes"
            value={scopes}
            onChange={setPicked}
            error={errorOf('scopes')}
          />
          <CommandHint command={commandOf({ name, email, password, scopes, defaults: defaults ?? [] })} />
        </>
      )}
    </FormDialog>
  )
}

function commandOf({
  name,
  email,
  password,
  scopes,
  defaults,
}: {
  name: string
  email: string
  password: string
  scopes: readonly string[]
  defaults: readonly string[]
}) {
  const isAdmin = isFullAdministrator(scopes)
  const user = name === '' ? 'NAME' : quoteShell(name)
  const given = scopes.filter((scope) => !defaults.includes(scope) && !(isAdmin && isBackendScope(scope)))
  const left = defaults.filter((scope) => !scopes.includes(scope))
  return [
    `waypost user:add ${user}`,
    ...(email === '' ? [] : [`--email ${quoteShell(email)}`]),
    ...(given.length === 0 ? [] : [`--scopes ${quoteShell(given.join(','))}`]),
    ...(isAdmin ? ['--admin'] : []),
    ...(password === '' ? [] : ['--password-stdin']),
    ...(left.length === 0 ? [] : [`&& waypost user:scopes ${user} --remove ${quoteShell(left.join(','))}`]),
  ].join(' ')
}
