// What the pages of the account, clients, tokens and connected apps share.
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Name, quoteShell, useScopes } from '../components/access.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { issuer } from '../config.ts'
import { accessToken, sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import type { ClientReference } from './api.ts'
import { portal } from './config.ts'
import { accessTexts, scopesTexts } from './access-texts.ts'
import { loadingErrorOf } from '../api/send.ts'

const loginClientId = '00000000-0000-4000-8000-000000000001'

/** Returns the name of a client as users know it. */
export function nameOf({ id, name }: ClientReference): string {
  return id === loginClientId ? accessTexts.passwordLogin : name
}

export function ClientName({ client }: { readonly client: ClientReference }) {
  return <Name text={nameOf(client)} />
}

/** The scopes that the user can grant, without those of administration. */
export function useOwnScopes(): readonly string[] {
  return (useStore(sessionStore)?.scopes ?? []).filter((scope) => !scope.startsWith('backend.'))
}

/** Scopes with their descriptions. */
export function ScopeList({ scopes, label }: { readonly scopes: readonly string[]; readonly label: string }) {
  const known = useScopes()
  const knownError = loadingErrorOf(known)
  if (knownError !== undefined) return <ProblemAlert error={knownError} onRetry={() => void known.refetch()} />
  if (known.data === undefined) return <Skeleton height={20 * scopes.length} />
  return (
    <dl className="portal-scopes" aria-label={label}>
      {scopes.map((scope) => (
        <div key={scope}>
          <dt>
            <code translate="no" dir="auto">
              {scope}
            </code>
          </dt>
          <dd dir="auto">{known.data.entry.find(({ name }) => name === scope)?.description ?? scopesTexts.noText}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What an action ends. */
export function Ends({
  text,
  items,
  then,
}: {
  readonly text: string
  readonly items: readonly string[]
  readonly then?: string
}) {
  return (
    <div className="stack-small">
      <p>{text}</p>
      <ul className="portal-ends">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
      {then === undefined ? null : <p className="soft">{then}</p>}
    </div>
  )
}

interface OpenApi {
  readonly paths?: Readonly<Record<string, { readonly get?: OpenApiCall }>>
}

interface OpenApiCall {
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly { readonly required?: boolean }[]
}

/** Returns the URL of a call that needs nothing but a token with these scopes. */
export function useSampleUrl(scopes: readonly string[]): string {
  const document = useQuery({
    queryKey: ['openapi', 'sample'],
    async queryFn({ signal }) {
      const headers = { authorization: `Bearer ${await accessToken()}` }
      const response = await fetch(`${issuer}/openapi.json`, { signal, headers })
      return response.ok ? ((await response.json()) as OpenApi) : {}
    },
    enabled: portal.docs !== 'off',
    staleTime: Infinity,
  })
  const found = Object.entries(document.data?.paths ?? {}).find(
    ([path, { get }]) =>
      get?.security !== undefined &&
      !path.includes('{') &&
      get.parameters?.some(({ required }) => required) !== true &&
      get.security.some((one) => Object.values(one).some((needed) => needed.every((scope) => scopes.includes(scope)))),
  )
  return issuer + (found?.[0] ?? '/authorization/whoami')
}

/** A command that calls the API. @param token the token; by default, a variable of the shell */
export function callCommand(url: string, token = '$TOKEN'): string {
  const header = `Authorization: Bearer ${token}`
  return `curl -H ${token.startsWith('$') ? `"${header}"` : quoteShell(header)} \\\n  ${quoteShell(url)}`
}

/** Commands that create a verifier and its challenge (RFC 7636). */
export const verifierCommands = [
  'VERIFIER=$(openssl rand -hex 32)',
  'CHALLENGE=$(printf %s "$VERIFIER" \\\n  | openssl dgst -sha256 -binary | base64 \\\n  | tr +/ -_ | tr -d =)',
].join('\n')

interface ExchangeOptions {
  readonly id: string
  readonly uri: string
  /** By default, a variable of the shell; null for a client without a secret. */
  readonly secret?: string | null
}

/** A command that exchanges the code of a sign-in for a token. */
export function exchangeCommand({ id, uri, secret }: ExchangeOptions): string {
  const credentials = secret === undefined ? `"${id}:$CLIENT_SECRET"` : quoteShell(`${id}:${secret}`)
  return [
    'curl',
    ...(secret === null ? [`  -d client_id=${id}`] : [`  -u ${credentials}`]),
    '  -d grant_type=authorization_code',
    '  -d code=$CODE -d code_verifier=$VERIFIER',
    `  --data-urlencode ${quoteShell(`redirect_uri=${uri}`)}`,
    `  ${quoteShell(`${issuer}/authorization/token`)}`,
  ].join(' \\\n')
}
