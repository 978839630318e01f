import { authorizeAddress, tokenCommand } from '../components/access.tsx'
import { CodeBlock } from '../components/copy.tsx'
import type { ClientType } from '../components/new-client.tsx'
import { callCommand, exchangeCommand, useSampleUrl, verifierCommands } from './access.tsx'
import type { Client } from './api.ts'
import { clientsTexts as texts } from './pages/client-texts.ts'

/** Returns what a client was created for. */
export function typeOf({ grants, public: isPublic }: Client): ClientType | 'other' {
  if (grants.includes('client_credentials')) return 'program'
  if (!grants.includes('authorization_code')) return 'other'
  return isPublic ? 'app' : 'website'
}

interface ClientUsageProps {
  readonly client: Client
  /** Only after it was created; by default, a variable of the shell. */
  readonly secret?: string
}

/** Commands with which a client gets a token and calls the API. */
export function ClientUsage({ client, secret }: ClientUsageProps) {
  const { id, grants, scopes, redirect_uris: uris } = client
  const [uri] = uris
  const url = useSampleUrl(scopes)
  const known = secret === undefined ? {} : { secret }
  return (
    <>
      {grants.includes('client_credentials') ? (
        <Step title={texts.getToken} code={tokenCommand({ id, scopes, ...known })} />
      ) : null}
      {grants.includes('authorization_code') && uri !== undefined ? (
        <>
          <Step title={texts.verifier} text={texts.verifierText} code={verifierCommands} />
          <Step title={texts.authorize} text={texts.authorizeText} code={authorizeAddress({ id, uri, scopes })} />
          <Step
            title={texts.exchange}
            code={exchangeCommand({ id, uri, ...(client.public ? { secret: null } : known) })}
          />
        </>
      ) : null}
      <Step title={texts.useToken} code={callCommand(url)} />
    </>
  )
}

interface StepProps {
  readonly title: string
  readonly text?: string
  readonly code: string
}

function Step({ title, text, code }: StepProps) {
  return (
    <section className="stack-small">
      <h3 className="strong">{title}</h3>
      {text === undefined ? null : <p className="soft">{text}</p>}
      <CodeBlock label={title} code={code} />
    </section>
  )
}
