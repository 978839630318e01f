import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { call, type ResponseOf } from '../api/call.ts'
import { send, sendWithEtag } from '../api/send.ts'
import { issuer } from '../config.ts'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { keepToken } from '../try/call.ts'
import { TryMethod } from '../try/try-method.tsx'
import { announce } from './announce.tsx'
import { CommandHint } from './copy.tsx'
import { ProblemAlert } from './problem.tsx'
import { whoTexts } from './definition-texts.ts'
import { tryItTexts as texts } from '../try/try-texts.ts'

/** Tokens without scopes of administration. */
const tokens = keepToken(() => call('POST /token/try', {}))

interface TryItProps {
  readonly method: ResponseOf<'GET /release/:id/method'>
  /** Whether the method is that of the release before, while the next one is loading. */
  readonly isOutdated: boolean
}

/** Calls a method of the served release with a token of the user. */
export function TryIt({ method, isOutdated }: TryItProps) {
  const user = useStore(sessionStore)?.user.name ?? ''
  return (
    <TryMethod
      method={{
        ...method,
        hasBody: ['POST', 'PUT', 'PATCH'].includes(method.method),
        bodyTypes: Object.entries(method.request_types ?? {}).map(([type, media]) => ({ type, ...media })),
      }}
      isOutdated={isOutdated}
      baseUrl={issuer}
      user={user}
      tokens={tokens}
      tokenText={texts.tokenText}
      missingScope={(sendAgain) => <MissingScope scopes={method.scopes} onGranted={sendAgain} />}
    >
      <CommandHint label={texts.otherUser} command="waypost token:issue --user NAME" />
    </TryMethod>
  )
}

/** Offers to add a scope to the user, who may do so as an administrator. */
function MissingScope({ scopes, onGranted }: { readonly scopes: readonly string[]; onGranted(): void }) {
  const session = useStore(sessionStore)
  const user = session?.user.name ?? ''
  const granting = useMutation({
    mutationFn: async (scope: string) => {
      const path = `user/${encodeURIComponent(user)}`
      const { data, etag } = await sendWithEtag<{ readonly scopes: readonly string[] }>('GET', path)
      await send('PATCH', path, { body: { scopes: [...data.scopes, scope] }, ifMatch: etag })
      tokens.forget()
      return scope
    },
    onSuccess: (scope) => {
      announce(texts.granted(user, scope))
      onGranted()
    },
  })
  const project = scopes.filter((scope) => !scope.startsWith('backend.'))
  if (session?.scopes.includes('backend.admin') !== true || project.length === 0)
    return <p className="note">{texts.ask(scopes.join(` ${whoTexts.or} `))}</p>
  return (
    <div className="note stack">
      <p>{texts.lacks(user, scopes.join(` ${whoTexts.or} `))}</p>
      <div className="try-actions">
        {project.slice(0, 3).map((scope) => (
          <Button
            key={scope}
            variant="default"
            loading={granting.isPending && granting.variables === scope}
            onClick={() => granting.mutate(scope)}
          >
            {texts.grant(scope)}
          </Button>
        ))}
      </div>
      {granting.isError ? <ProblemAlert error={granting.error} /> : null}
    </div>
  )
}
