import { send } from '../../api/send.ts'
import { issuer } from '../../config.ts'
import type { NamedSchemas } from '../../components/named-schemas.ts'
import { sessionStore } from '../../session/session.ts'
import { useStore } from '../../session/store.ts'
import { keepToken } from '../../try/call.ts'
import { TryMethod } from '../../try/try-method.tsx'
import { SignInButtons } from '../sign-in.tsx'
import { givenToken, givenTokens } from './given-token.ts'
import { isAlone } from './places.ts'
import type { Operation } from './read-openapi.ts'
import { TokenPanel } from './token-form.tsx'
import { accessTexts as access } from './reference-texts.ts'
import { tokenTexts } from './token-texts.ts'

const texts = {
  tokenText: 'A token with the scopes of your account, valid for 15 minutes. It is not shown.',
  signIn: 'You are not signed in, so the request is sent without a token and will be rejected.',
  noToken:
    'Your account does not have the scope “consumer”, so it cannot get a token here. The request is sent without a token and will be rejected. The operator of this API can grant the scope.',
  lacks: (scopes: string) => `Your account does not have the scope ${scopes}. Ask the operator of this API for it.`,
} as const

/** Tokens without the scopes of the account API. */
const tokens = keepToken(() => send('POST', 'token', { body: {} }))

interface TryOperationProps {
  readonly operation: Operation
  readonly schemas: NamedSchemas
}

/** Calls an operation with a token of the user, with another one, or without one. */
export function TryOperation({ operation, schemas }: TryOperationProps) {
  const session = useStore(sessionStore)
  const given = useStore(givenToken)
  // The account API issues the tokens.
  const canGetToken = session?.scopes.includes('consumer') === true
  const own = canGetToken ? { user: session.user.name, tokens } : { user: undefined, tokens }
  const { method, path, isPublic, scopes, pathParameters, query, headers, body } = operation
  return (
    <TryMethod
      method={{
        method,
        path,
        public: isPublic,
        scopes,
        params: pathParameters,
        query,
        headers,
        schemas,
        hasBody: body !== undefined,
        example: body?.example,
        bodyTypes: body === undefined ? undefined : [body, ...body.others],
      }}
      baseUrl={issuer}
      {...(given === undefined ? own : { user: given.user, tokens: givenTokens })}
      tokenText={given === undefined ? texts.tokenText : tokenTexts.sent}
      missingScope={() => (
        <p className="note">{(given === undefined ? texts : tokenTexts).lacks(scopes.join(` ${access.or} `))}</p>
      )}
      intro={<TokenPanel needsToken={!isPublic} />}
    >
      {given !== undefined || isPublic || isAlone ? null : <NoToken />}
    </TryMethod>
  )
}

/** Why calls are sent without a token, if they are. */
function NoToken() {
  const session = useStore(sessionStore)
  if (session?.scopes.includes('consumer') === true) return null
  if (session !== undefined) return <p className="note">{texts.noToken}</p>
  return (
    <div className="note stack-small">
      <p>{texts.signIn}</p>
      <SignInButtons />
    </div>
  )
}
