import { Button, Checkbox, Skeleton, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call, callWithEtag, type ResponseOf } from '../api/call.ts'
import { loadingErrorOf } from '../api/send.ts'
import {
  AccessDialog,
  AccessState,
  AuditLink,
  authorizeAddress,
  TokenList,
  tokenCommand,
  useRefreshAccess,
  type AccessAction,
} from '../components/access.tsx'
import { announce } from '../components/announce.tsx'
import { State } from '../components/badge.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CodeBlock, CopyText } from '../components/copy.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { ScopePicker } from '../components/scope-picker.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { useEdit } from '../components/use-edit.ts'
import { useCrumbName } from '../shell/breadcrumbs.tsx'
import { accessTexts } from '../components/access-texts.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { clientsTexts as listTexts } from './client-texts.ts'

const texts = {
  of: 'of',
  renew: 'New secret',
  renewTitle: (name: string) => `Replace the secret of ${name}?`,
  renewText:
    'The old secret stops working immediately. Existing tokens stay valid; revoke access as well if the secret was leaked.',
  renewed: (name: string) => `New secret of ${name}`,
  builtInText: 'A built-in client, which all logins of its kind use. It cannot be changed.',
  curlText: 'Replace $CLIENT_SECRET with the secret that was shown when it was created.',
  authorize: 'Send users to',
  noGrant: 'This client has no grant with which it can get a token.',
} as const

type Client = ResponseOf<'GET /client/:id'>

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const [action, setAction] = useState<AccessAction | 'secret'>()
  const [secret, setSecret] = useState<string>()
  const client = useQuery({
    queryKey: ['client', id],
    queryFn: ({ signal }) => callWithEtag('GET /client/:id', { params: { id } }, { signal }),
  })
  const found = client.data?.data
  useCrumbName(found?.name)
  const clientError = loadingErrorOf(client)
  if (clientError !== undefined) return <ProblemAlert error={clientError} onRetry={() => void client.refetch()} />
  if (found === undefined) return <Skeleton height={320} className="form" />
  const { name, user, status } = found
  const toggle = status === 'disabled' ? 'enable' : 'disable'
  return (
    <>
      <PageHeader title={name} text={<Summary client={found} />} mode={modeTexts.atOnce}>
        <AuditLink subject={name} />
        {found.public ? null : (
          <Button variant="default" onClick={() => setAction('secret')}>
            {texts.renew}
          </Button>
        )}
        <Button variant="default" onClick={() => setAction('revoke')}>
          {accessTexts.act.revoke}
        </Button>
        {user === null ? null : (
          <Button variant="default" onClick={() => setAction(toggle)}>
            {accessTexts.act[toggle]}
          </Button>
        )}
      </PageHeader>
      {user === null ? (
        <p className="soft">{texts.builtInText}</p>
      ) : (
        <div className="page-columns">
          <ClientForm key={id} client={found} owner={user} etag={client.data?.etag} />
          <div className="page-sections">
            <Usage client={found} />
            <TokenList of={{ client: id }} />
          </div>
        </div>
      )}
      {action === undefined || action === 'secret' ? null : (
        <AccessDialog
          subject={{ kind: 'client', key: id, name }}
          action={action}
          onClose={() => setAction(undefined)}
        />
      )}
      {action === 'secret' ? (
        <NewSecret client={found} onSecret={setSecret} onClose={() => setAction(undefined)} />
      ) : null}
      {secret === undefined ? null : (
        <SecretOnce
          title={texts.renewed(name)}
          values={{ [listTexts.id]: id, [listTexts.secret]: secret }}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

interface NewSecretProps {
  readonly client: Client
  onSecret(secret: string): void
  onClose(): void
}

function NewSecret({ client: { id, name }, onSecret, onClose }: NewSecretProps) {
  return (
    <ConfirmDialog
      title={texts.renewTitle(name)}
      action={texts.renew}
      command={`waypost client:secret ${id}`}
      isDanger
      onConfirm={async () => onSecret((await call('POST /client/:id/secret', { params: { id } })).client_secret)}
      onClose={onClose}
    >
      {texts.renewText}
    </ConfirmDialog>
  )
}

function Summary({ client: { id, user, status, public: isPublic } }: { readonly client: Client }) {
  return (
    <span className="summary">
      <span>
        <AccessState status={status} /> {isPublic ? <State tone="quiet">{listTexts.public}</State> : null}
      </span>
      <span>
        <CopyText value={id} isMono label={listTexts.id} />
      </span>
      <span>
        {user === null ? (
          listTexts.builtIn
        ) : (
          <>
            {texts.of}{' '}
            <Link to="/users/$name" params={{ name: user }}>
              <bdi translate="no">{user}</bdi>
            </Link>
          </>
        )}
      </span>
    </span>
  )
}

/** How the client gets a token. */
function Usage({ client: { id, grants, scopes, redirect_uris: uris } }: { readonly client: Client }) {
  const isProgram = grants.includes('client_credentials')
  const [uri] = uris
  return (
    <section className="stack-small">
      <h2>{listTexts.getToken}</h2>
      {isProgram ? (
        <>
          <p className="soft">{texts.curlText}</p>
          <CodeBlock label={listTexts.getToken} code={tokenCommand({ id, scopes })} />
        </>
      ) : null}
      {grants.includes('authorization_code') && uri !== undefined ? (
        <>
          <p className="soft">{texts.authorize}</p>
          <CodeBlock label={texts.authorize} code={authorizeAddress({ id, uri, scopes })} />
        </>
      ) : isProgram ? null : (
        <p className="soft">{texts.noGrant}</p>
      )}
    </section>
  )
}

const grantTypes = ['client_credentials', 'authorization_code', 'refresh_token', 'password']

interface ClientFields {
  readonly name: string
  readonly grants: readonly string[]
  readonly scopes: readonly string[]
  /** One redirect URI on each line. */
  readonly uris: string
}

interface ClientFormProps {
  readonly client: Client
  readonly owner: string
  readonly etag: string | undefined
}

function ClientForm({ client, owner, etag }: ClientFormProps) {
  const refresh = useRefreshAccess()
  const params = { id: client.id }
  const owned = useQuery({
    queryKey: ['user', 'owner', owner],
    queryFn: ({ signal }) => call('GET /user/:user', { params: { user: owner } }, signal),
  })
  const edit = useEdit({
    record: client,
    etag,
    fieldsOf: ({ name, grants, scopes, redirect_uris: uris }): ClientFields => ({
      name,
      grants,
      scopes,
      uris: uris.join('\n'),
    }),
    reload: () => callWithEtag('GET /client/:id', { params }),
    async save({ name, grants, scopes, uris }, ifMatch) {
      const redirectUris = uris.split(/\s+/).filter((uri) => uri !== '')
      const body = { name, grants: [...grants], scopes: [...scopes], redirect_uris: redirectUris }
      const saved = await callWithEtag('PATCH /client/:id', { params, body }, { ifMatch })
      announce(accessTexts.saved)
      await refresh()
      return saved
    },
  })
  const { fields, before, hasConflict } = edit
  const nowOf = (field: 'name' | 'uris') =>
    !hasConflict || before[field] === fields[field] ? undefined : accessTexts.now(before[field] || accessTexts.empty)
  return (
    <section className="form" aria-label={pageTitles.client}>
      <SaveForm
        action={accessTexts.save}
        hasChanges={edit.hasChanges}
        isIncomplete={fields.scopes.length === 0 && before.scopes.length > 0}
        onSave={edit.save}
      >
        {(errorOf) => (
          <>
            <TextInput
              label={accessTexts.name}
              name="name"
              dir="auto"
              description={nowOf('name')}
              value={fields.name}
              error={errorOf('name')}
              onChange={(event) => edit.set({ name: event.currentTarget.value })}
              autoComplete="off"
            />
            <Textarea
              display={fields.uris !== '' || fields.grants.includes('authorization_code') ? 'block' : 'none'}
              label={listTexts.redirectUris}
              description={nowOf('uris') ?? listTexts.redirectText}
              name="redirect_uris"
              autosize
              minRows={2}
              value={fields.uris}
              error={errorOf('redirect_uris')}
              onChange={(event) => edit.set({ uris: event.currentTarget.value })}
              spellCheck={false}
            />
            <Checkbox.Group
              label={listTexts.grants}
              value={[...fields.grants]}
              error={errorOf('grants')}
              onChange={(grants) => edit.set({ grants })}
            >
              <div className="choices">
                {[...new Set([...grantTypes, ...before.grants])].map((grant) => (
                  <Checkbox key={grant} name="grants" value={grant} label={<code translate="no">{grant}</code>} />
                ))}
              </div>
            </Checkbox.Group>
            <ScopePicker
              label={accessTexts.scopes}
              name="scopes"
              description={listTexts.ownerScopes}
              value={fields.scopes}
              before={before.scopes}
              from={owned.data?.scopes ?? before.scopes}
              onChange={(scopes) => edit.set({ scopes })}
              error={errorOf('scopes')}
            />
            {fields.scopes.length > 0 ? null : (
              <p className="warnings" role="note">
                {listTexts.withoutScopes}
              </p>
            )}
            {before.scopes.every((scope) => fields.scopes.includes(scope)) ? null : (
              <p className="soft">{accessTexts.removes}</p>
            )}
          </>
        )}
      </SaveForm>
    </section>
  )
}
