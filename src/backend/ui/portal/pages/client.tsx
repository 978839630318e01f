import { Button, Checkbox, Skeleton, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { AccessState } from '../../components/access.tsx'
import { announce } from '../../components/announce.tsx'
import { State } from '../../components/badge.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CopyText } from '../../components/copy.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { readUris, RedirectUris } from '../../components/redirect-uris.tsx'
import { SaveForm } from '../../components/save-form.tsx'
import { ScopePicker } from '../../components/scope-picker.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { isSameField, useEdit, type Edit } from '../../components/use-edit.ts'
import { useCrumbName } from '../../shell/breadcrumbs.tsx'
import { Ends, ScopeList, useOwnScopes } from '../access.tsx'
import type { Client } from '../api.ts'
import { ClientUsage, typeOf } from '../client-usage.tsx'
import { assertFields, clientRules, sendForm, urisProblem } from '../form.ts'
import { LoadProblem } from '../load-problem.tsx'
import { formTexts, scopesTexts } from '../access-texts.ts'
import { clientTexts as texts, clientsTexts as listTexts } from './client-texts.ts'

type Action = 'secret' | 'disable' | 'enable' | 'delete'

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const [action, setAction] = useState<Action>()
  const [renewed, setRenewed] = useState<Client>()
  const client = useQuery({
    queryKey: ['client', id],
    queryFn: ({ signal }) => send<Client>('GET', `client/${encodeURIComponent(id)}`, { signal }),
    retry: false,
  })
  useCrumbName(client.data?.name)
  if (client.isError) {
    const link = { to: '/clients', label: texts.all }
    return (
      <LoadProblem error={client.error} text={texts.notFoundText} link={link} onRetry={() => void client.refetch()} />
    )
  }
  if (client.data === undefined) return <Skeleton height={320} className="form" />
  const { name, status, scopes, disabled_by: disabledBy } = client.data
  const canChange = !scopes.some((scope) => scope.startsWith('backend.'))
  const isBarred = disabledBy === 'administrator'
  return (
    <>
      <PageHeader title={name} text={<Summary client={client.data} />}>
        {client.data.public || !canChange ? null : (
          <Button variant="default" onClick={() => setAction('secret')}>
            {texts.renew}
          </Button>
        )}
        {status === 'active' ? (
          <Button variant="default" onClick={() => setAction('disable')}>
            {texts.disable}
          </Button>
        ) : isBarred || !canChange ? null : (
          <Button variant="default" onClick={() => setAction('enable')}>
            {texts.enable}
          </Button>
        )}
        <Button variant="default" className="portal-danger" onClick={() => setAction('delete')}>
          {texts.delete}
        </Button>
      </PageHeader>
      <div className="stack">
        {isBarred ? <p className="warnings">{texts.barred}</p> : null}
        {canChange ? null : <p className="warnings">{texts.adminScopes}</p>}
        <div className="page-columns">
          <section className="stack-small" aria-labelledby="settings">
            <h2 id="settings">{canChange ? texts.settings : scopesTexts.title}</h2>
            {canChange ? (
              <ClientForm key={id} client={client.data} />
            ) : (
              <ScopeList scopes={scopes} label={scopesTexts.title} />
            )}
          </section>
          <section className="stack" aria-labelledby="usage">
            <h2 id="usage">{texts.usage}</h2>
            {client.data.public ? null : <p className="soft">{texts.secretText}</p>}
            <ClientUsage client={client.data} />
          </section>
        </div>
      </div>
      {action === undefined ? null : (
        <ActionDialog client={client.data} action={action} onSecret={setRenewed} onClose={() => setAction(undefined)} />
      )}
      {renewed?.secret === undefined ? null : (
        <SecretOnce
          title={texts.renewed(name)}
          values={{ [listTexts.id]: id, [listTexts.secret]: renewed.secret }}
          onClose={() => setRenewed(undefined)}
        >
          <ClientUsage client={renewed} secret={renewed.secret} />
        </SecretOnce>
      )}
    </>
  )
}

function Summary({ client }: { readonly client: Client }) {
  const { id, status, created } = client
  return (
    <span className="summary">
      <span>{listTexts.shortTypes[typeOf(client)]}</span>
      <span>
        <AccessState status={status} /> {client.public ? <State tone="quiet">{texts.public}</State> : null}
      </span>
      <span>
        <CopyText value={id} isMono label={listTexts.id} />
      </span>
      <span>
        {listTexts.created} <RelativeTime value={created} />
      </span>
    </span>
  )
}

interface ClientFields {
  readonly name: string
  readonly scopes: readonly string[]
  /** One redirect URI on each line. */
  readonly uris: string
}

const ownGrants = new Set(['authorization_code', 'client_credentials', 'refresh_token'])

function ClientForm({ client }: { readonly client: Client }) {
  const own = useOwnScopes()
  const queries = useQueryClient()
  const path = `client/${encodeURIComponent(client.id)}`
  const hasUris = client.grants.includes('authorization_code') || client.redirect_uris.length > 0
  const lost = client.scopes.filter((scope) => !own.includes(scope))
  const heldGrants = client.grants.filter((grant) => !ownGrants.has(grant))
  const fieldsOf = ({ name, scopes, redirect_uris: uris }: Client): ClientFields => ({
    name,
    scopes: scopes.filter((scope) => own.includes(scope)),
    uris: uris.join('\n'),
  })
  const edit: Edit<ClientFields> = useEdit({
    record: client,
    etag: JSON.stringify(fieldsOf(client)),
    fieldsOf,
    reload: async () => ({ data: await send<Client>('GET', path), etag: undefined }),
    async save({ name, scopes, uris }) {
      const { before } = edit
      assertFields({
        name: name.trim() === '' && formTexts.name,
        redirect_uris: uris !== before.uris && urisProblem(uris),
        scopes: scopes.length === 0 && formTexts.scopes,
      })
      // Values that an administrator set stay as long as they are not sent.
      const body = {
        ...(name === before.name ? {} : { name: name.trim() }),
        ...(isSameField(scopes, before.scopes) ? {} : { scopes }),
        ...(uris === before.uris ? {} : { redirect_uris: readUris(uris) }),
      }
      const data = await sendForm<Client>('PATCH', path, body, clientRules)
      announce(texts.saved)
      await queries.invalidateQueries({ queryKey: ['client'] })
      return { data, etag: JSON.stringify(fieldsOf(data)) }
    },
  })
  const { fields, before } = edit
  return (
    <SaveForm action={texts.save} hasChanges={edit.hasChanges} onSave={edit.save}>
      {(errorOf) => (
        <>
          <TextInput
            label={listTexts.name}
            description={hasUris ? listTexts.nameText : undefined}
            name="name"
            dir="auto"
            value={fields.name}
            error={errorOf('name')}
            onChange={(event) => edit.set({ name: event.currentTarget.value })}
            autoComplete="off"
          />
          {hasUris ? (
            <RedirectUris
              texts={listTexts}
              value={fields.uris}
              error={errorOf('redirect_uris')}
              onChange={(uris) => edit.set({ uris })}
            />
          ) : null}
          <ScopePicker
            label={scopesTexts.title}
            name="scopes"
            description={listTexts.scopesText}
            value={fields.scopes}
            before={before.scopes}
            from={own}
            onChange={(scopes) => edit.set({ scopes })}
            error={errorOf('scopes')}
          />
          {before.scopes.every((scope) => fields.scopes.includes(scope)) ? null : (
            <p className="soft">{texts.removesScopes}</p>
          )}
          {lost.length === 0 ? null : <p className="soft">{texts.lostScopes(lost.join(', '))}</p>}
          {heldGrants.length === 0 ? null : <p className="soft">{texts.heldGrants(heldGrants.join(', '))}</p>}
        </>
      )}
    </SaveForm>
  )
}

interface ActionDialogProps {
  readonly client: Client
  readonly action: Action
  onSecret(client: Client): void
  onClose(): void
}

function ActionDialog({ client: { id, name }, action, onSecret, onClose }: ActionDialogProps) {
  const [revokesTokens, setRevokesTokens] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = `client/${encodeURIComponent(id)}`
  const refresh = () => queries.invalidateQueries()
  if (action === 'secret') {
    return (
      <ConfirmDialog
        title={texts.renewTitle(name)}
        action={texts.renew}
        isDanger
        onConfirm={async () => {
          onSecret(await send<Client>('POST', `${path}/secret`, { body: { revoke_tokens: revokesTokens } }))
          await refresh()
        }}
        onClose={onClose}
      >
        <div className="stack">
          <p>{texts.renewText}</p>
          <Checkbox
            label={texts.revoke}
            description={texts.revokeText}
            checked={revokesTokens}
            onChange={(event) => setRevokesTokens(event.currentTarget.checked)}
          />
        </div>
      </ConfirmDialog>
    )
  }
  if (action === 'delete') {
    return (
      <ConfirmDialog
        title={texts.deleteTitle(name)}
        action={texts.delete}
        isDanger
        onConfirm={async () => {
          await send('DELETE', path)
          announce(texts.deleted(name))
          await navigate({ to: '/clients' })
          queries.removeQueries({ queryKey: ['client', id] })
          await refresh()
        }}
        onClose={onClose}
      >
        <Ends text={texts.deleteText} items={texts.deleteEnds} />
      </ConfirmDialog>
    )
  }
  const isDisabling = action === 'disable'
  return (
    <ConfirmDialog
      title={isDisabling ? texts.disableTitle(name) : texts.enableTitle(name)}
      action={texts[action]}
      isDanger={isDisabling}
      onConfirm={async () => {
        await send('PATCH', path, { body: { status: isDisabling ? 'disabled' : 'active' } })
        announce(isDisabling ? texts.disabled(name) : texts.enabled(name))
        await refresh()
      }}
      onClose={onClose}
    >
      {isDisabling ? (
        <Ends text={texts.disableText} items={texts.disableEnds} then={texts.disableThen} />
      ) : (
        <p>{texts.enableText}</p>
      )}
    </ConfirmDialog>
  )
}
