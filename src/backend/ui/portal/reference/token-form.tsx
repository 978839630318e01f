import { Button, PasswordInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { announce } from '../../components/announce.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useStore } from '../../session/store.ts'
import { authorizeInWindow, whyNoWindow } from './authorize-window.ts'
import { givenToken, giveToken, type GivenToken } from './given-token.ts'
import { isAlone } from './places.ts'
import { tokenTexts as texts } from './token-texts.ts'

/** Gets a token by signing in, or takes one that the reader has. @param props `submit` is the text of its button */
export function TokenForm({ submit = texts.use }: { readonly submit?: string }) {
  const signingIn = useMutation({ mutationFn: (done: Promise<void>) => done })
  const giving = useMutation({ mutationFn: giveToken })
  const reason = whyNoWindow()
  const { error } = giving.isError ? giving : signingIn
  return (
    <div className="token-form">
      {isAlone ? (
        <div className="stack-small">
          {reason === undefined ? (
            <>
              <Button
                variant={submit === texts.use ? 'default' : 'filled'}
                onClick={() => {
                  giving.reset()
                  signingIn.mutate(authorizeInWindow()) // now: browsers only open windows for a click
                }}
              >
                {texts.signIn}
              </Button>
              <p className="soft">{signingIn.isPending ? texts.waiting : texts.signInText}</p>
            </>
          ) : (
            <p className="soft">{reason}</p>
          )}
        </div>
      ) : null}
      <form
        className="token-field"
        onSubmit={(event) => {
          event.preventDefault()
          signingIn.reset()
          giving.mutate(new FormData(event.currentTarget).get('token') as string)
        }}
      >
        <PasswordInput name="token" label={texts.enter} autoComplete="off" spellCheck={false} required />
        <Button type="submit" variant="default" loading={giving.isPending}>
          {submit}
        </Button>
      </form>
      {error === null ? null : <ProblemAlert error={error} />}
    </div>
  )
}

/** Whose token is used, or how to get one. @param props `needsToken` is whether calls are refused without one */
export function TokenPanel({ needsToken }: { readonly needsToken: boolean }) {
  const given = useStore(givenToken)
  if (given !== undefined) return <TokenFacts {...given} />
  if (isAlone && needsToken) {
    return (
      <section className="token-panel">
        <h2>{texts.title}</h2>
        <p className="soft">{texts.needed}</p>
        <TokenForm />
      </section>
    )
  }
  return (
    <details>
      <summary>{isAlone ? texts.any : texts.other}</summary>
      <div className="token-panel">
        <p className="soft">{isAlone ? texts.anyText : texts.otherText}</p>
        <TokenForm />
      </div>
    </details>
  )
}

function TokenFacts({ user, client, scopes, expires }: GivenToken) {
  return (
    <section className="token-panel token-facts" aria-label={texts.title}>
      <p className="soft">
        {texts.of}{' '}
        <bdi translate="no" className="strong">
          {user}
        </bdi>{' '}
        {client === undefined ? null : (
          <>
            {texts.by} <bdi translate="no">{client}</bdi>{' '}
          </>
        )}
        ·{' '}
        {scopes.length === 0 ? (
          texts.noScopes
        ) : (
          <bdi translate="no" className="mono">
            {scopes.join(' ')}
          </bdi>
        )}{' '}
        · {texts.expires} <RelativeTime value={expires} canBeFuture />
      </p>
      <button
        type="button"
        className="text-button"
        onClick={() => {
          givenToken.set(undefined)
          announce(texts.removed)
        }}
      >
        {texts.remove}
      </button>
    </section>
  )
}
