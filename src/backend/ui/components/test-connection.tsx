import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { State } from './badge.tsx'
import { ProblemAlert } from './problem.tsx'
import { connectionsTexts as texts } from './connection-texts.ts'
import { buildTexts as build } from './definition-texts.ts'

/** Tests a connection of the active release, for those who may. */
export function TestConnection({ name }: { readonly name: string }) {
  const mayTest = useStore(sessionStore)?.scopes.includes('backend.deploy') === true
  const testing = useMutation({
    mutationFn: () => call('POST /connection/:name/test', { params: { name } }),
  })
  if (!mayTest) return null
  return (
    <div className="stack-small">
      <Button
        variant="default"
        className="align-start"
        loading={testing.isPending}
        aria-label={texts.testOf(name)}
        onClick={() => testing.mutate()}
      >
        {texts.test}
      </Button>
      <div role="status">
        {testing.data === undefined ? null : testing.data.ok ? (
          <State tone="good">{texts.ok(build.ms(testing.data.ms))}</State>
        ) : (
          <p className="problem" dir="auto">
            {texts.failed}: {testing.data.problem}
          </p>
        )}
      </div>
      {testing.isError ? <ProblemAlert error={testing.error} /> : null}
    </div>
  )
}
