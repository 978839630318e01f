import { Checkbox, PasswordInput, Skeleton, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send, loadingErrorOf } from '../../api/send.ts'
import { announce } from '../../components/announce.tsx'
import { CopyText } from '../../components/copy.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { SaveForm } from '../../components/save-form.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { ScopeList } from '../access.tsx'
import type { Account } from '../api.ts'
import { assertFields, sendForm } from '../form.ts'
import { formTexts as form, scopesTexts } from '../access-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

const texts = {
  since: 'Member since',
  username: 'Username',
  id: 'User ID',
  email: {
    title: 'Email address',
    label: 'Email',
    text: 'Leave it empty to remove it.',
    save: 'Save email',
    saved: 'Saved the email address',
    removed: 'Removed the email address',
  },
  password: {
    title: 'Password',
    text: 'When you change it, all other sessions and tokens of your account end immediately, including those of connected clients. You stay signed in on this page until you close or reload it.',
    old: 'Current password',
    new: 'New password',
    newText: 'At least 8 characters.',
    also: 'If someone else may have used your account, select both:',
    clients: 'Disable my clients that use client_credentials',
    clientsText: 'They get tokens with their own secret, which a new password does not change.',
    subscriptions: 'Disable my subscriptions',
    subscriptionsText:
      'They continue to send events after you change the password. Afterwards, enable those that you want to keep.',
    change: 'Change password',
    changed: 'Changed the password. All other sessions and tokens ended',
  },
  scopesTitle: 'What your account may do',
  scopesText: 'Your clients, and those of others that you connect, can get these scopes, but no others.',
} as const

export function Page() {
  const account = useQuery({
    queryKey: ['account'],
    queryFn: ({ signal }) => send<Account>('GET', 'account', { signal }),
  })
  const [passwordChanges, setPasswordChanges] = useState(0)
  const accountError = loadingErrorOf(account)
  if (accountError !== undefined) return <ProblemAlert error={accountError} onRetry={() => void account.refetch()} />
  if (account.data === undefined) return <Skeleton height={320} className="form" />
  const { id, name, scopes, created } = account.data
  const shown = scopes.filter((scope) => !scope.startsWith('backend.'))
  return (
    <>
      <PageHeader title={pagesTexts.account} />
      <div className="page-columns">
        <div className="page-sections">
          <dl className="facts">
            <dt>{texts.username}</dt>
            <dd>
              <bdi translate="no" className="strong">
                {name}
              </bdi>
            </dd>
            <dt>{texts.since}</dt>
            <dd>
              <RelativeTime value={created} />
            </dd>
            <dt>{texts.id}</dt>
            <dd>
              <CopyText value={id} isMono label={texts.id} />
            </dd>
          </dl>
          <section aria-labelledby="email" className="stack-small">
            <h2 id="email">{texts.email.title}</h2>
            <EmailForm key={account.data.email} account={account.data} />
          </section>
          <section aria-labelledby="password" className="stack-small">
            <h2 id="password">{texts.password.title}</h2>
            <PasswordForm
              key={passwordChanges}
              username={name}
              onChanged={() => setPasswordChanges(passwordChanges + 1)}
            />
          </section>
        </div>
        <section aria-labelledby="scopes" className="stack-small">
          <h2 id="scopes">{texts.scopesTitle}</h2>
          <p className="soft">{shown.length === 0 ? scopesTexts.none : texts.scopesText}</p>
          <ScopeList scopes={shown} label={scopesTexts.title} />
        </section>
      </div>
    </>
  )
}

function EmailForm({ account }: { readonly account: Account }) {
  const before = account.email ?? ''
  const [email, setEmail] = useState(before)
  const queries = useQueryClient()
  const save = async () => {
    const value = email.trim() === '' ? null : email.trim()
    const saved = await sendForm<Account>('PATCH', 'account', { email: value }, { texts: { email: form.email } })
    queries.setQueryData(['account'], saved)
    announce(value === null ? texts.email.removed : texts.email.saved)
  }
  return (
    <SaveForm action={texts.email.save} hasChanges={email.trim() !== before} onSave={save}>
      {(errorOf) => (
        <TextInput
          type="email"
          label={texts.email.label}
          description={texts.email.text}
          name="email"
          value={email}
          error={errorOf('email')}
          onChange={(event) => setEmail(event.currentTarget.value)}
          autoComplete="email"
        />
      )}
    </SaveForm>
  )
}

const passwordRules = {
  codes: { WP_AUTH_OLD_PASSWORD: 'old', WP_AUTH_PASSWORD_WEAK: 'new', WP_AUTH_PASSWORD_NAME: 'new' },
}

interface PasswordFormProps {
  readonly username: string
  onChanged(): void
}

function PasswordForm({ username, onChanged }: PasswordFormProps) {
  const password = texts.password
  const [before, setBefore] = useState('')
  const [after, setAfter] = useState('')
  const [endsClients, setEndsClients] = useState(false)
  const [endsSubscriptions, setEndsSubscriptions] = useState(false)
  const queries = useQueryClient()
  const save = async () => {
    assertFields({ old: before === '' && form.oldPassword, new: after === '' && form.newPassword })
    const body = { old: before, new: after, end_clients: endsClients, end_subscriptions: endsSubscriptions }
    await sendForm('PUT', 'account/password', body, passwordRules)
    void queries.invalidateQueries()
  }
  const finish = () => {
    onChanged()
    announce(password.changed)
  }
  return (
    <SaveForm action={password.change} hasChanges={before !== '' || after !== ''} onSave={save} onSaved={finish}>
      {(errorOf) => (
        <>
          <p className="soft">{password.text}</p>
          {/* For password managers. */}
          <input name="username" autoComplete="username" value={username} readOnly hidden />
          <PasswordField
            label={password.old}
            name="old"
            value={before}
            error={errorOf('old')}
            onChange={setBefore}
            autoComplete="current-password"
          />
          <PasswordField
            label={password.new}
            description={password.newText}
            name="new"
            value={after}
            error={errorOf('new')}
            onChange={setAfter}
            autoComplete="new-password"
          />
          <fieldset>
            <legend className="portal-legend">{password.also}</legend>
            <Checkbox
              label={password.clients}
              description={password.clientsText}
              checked={endsClients}
              onChange={(event) => setEndsClients(event.currentTarget.checked)}
            />
            <Checkbox
              label={password.subscriptions}
              description={password.subscriptionsText}
              checked={endsSubscriptions}
              onChange={(event) => setEndsSubscriptions(event.currentTarget.checked)}
            />
          </fieldset>
        </>
      )}
    </SaveForm>
  )
}

interface PasswordFieldProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly error: string | undefined
  readonly description?: string
  readonly autoComplete: string
  onChange(value: string): void
}

function PasswordField({ onChange, ...props }: PasswordFieldProps) {
  const [isVisible, setVisible] = useState(false)
  return (
    <PasswordInput
      {...props}
      visible={isVisible}
      onVisibilityChange={setVisible}
      visibilityToggleButtonProps={{ 'aria-label': isVisible ? form.hide : form.show, tabIndex: 0 }}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
