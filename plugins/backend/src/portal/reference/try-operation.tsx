import { send } from '../../api/send.ts'
import { issuer } from '../../config.ts'
import type { NamedSchemas } from '../../components/named-schemas.ts'
import { sessionStore } from '../../session/session.ts'
import { useStore } from '../../session/store.ts'
import { keepToken } from '../../try/call.ts'
import { TryMethod } from '../../try/try-method.tsx'
import { SignInButtons } from '../gate.tsx'
import { reference } from '../strings/reference.ts'
import type { Operation } from './read-openapi.ts'

const { tryIt: texts, access } = reference

/** Tokens without the scopes of the account API. */
const tokens = keepToken(() => send('POST', 'token', { body: {} }))

interface TryOperationProps {
  readonly operation: Operation
  readonly schemas: NamedSchemas
}

/** Calls an operation with a token of the user, or without one. */
export function TryOperation({ operation, schemas }: TryOperationProps) {
  const session = useStore(sessionStore)
  // The account API issues the tokens.
  const canGetToken = session?.scopes.includes('consumer') === true
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
      }}
      baseUrl={issuer}
      user={canGetToken ? session.user.name : undefined}
      tokens={tokens}
      tokenText={texts.tokenText}
      missingScope={() => <p className="note">{texts.lacks(scopes.join(` ${access.or} `))}</p>}
    >
      {session === undefined && !isPublic ? (
        <div className="note stack-small">
          <p>{texts.signIn}</p>
          <SignInButtons />
        </div>
      ) : null}
      {session === undefined || canGetToken || isPublic ? null : <p className="note">{texts.noToken}</p>}
    </TryMethod>
  )
}
