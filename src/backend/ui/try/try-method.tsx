import { Button, NativeSelect } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { ProblemAlert } from '../components/problem.tsx'
import { ResponseView, History } from './response-view.tsx'
import { lacksScope, sendCall, type Call, type TokenSource } from './call.ts'
import { kindOf, makeBody } from './body-values.ts'
import { CodeOfRequest } from './code-of-request.tsx'
import { RequestFields } from './request-form.tsx'
import { tryItTexts as texts } from './try-texts.ts'
import {
  chosenType,
  firstValues,
  hasDots,
  keepTyped,
  writeHeaders,
  writePath,
  type CalledMethod,
  type RequestValues,
} from './request-values.ts'

/** Returns the body, and how code writes it. */
function writeBody(method: CalledMethod, values: RequestValues) {
  const type = chosenType(method, values)
  if (type === undefined || kindOf(type) === 'json') return { body: method.hasBody ? values.body : undefined }
  const sent = values.sent ?? { type: type.type, texts: {}, files: {} }
  const { code, ...made } = makeBody(type, sent, method.schemas)
  return { body: undefined, code, made }
}

interface TryMethodProps {
  readonly method: CalledMethod
  /** Whether the fields may have changed, so that nothing is sent until they are loaded. */
  readonly isOutdated?: boolean
  /** The URL below which the API is, without a trailing slash. */
  readonly baseUrl: string
  /** The user whose token is sent; undefined if nobody is signed in. */
  readonly user: string | undefined
  readonly tokens: TokenSource
  /** What the token may do. */
  readonly tokenText: string
  /** Before the form, for example what gets a token. */
  readonly intro?: ReactNode
  /** Below the choice of the token. */
  readonly children?: ReactNode
  /** What to do about a missing scope. */
  missingScope(sendAgain: () => void): ReactNode
}

/** In a narrow or low window, the response is below the form, out of sight. */
function showBelow(section: HTMLElement | null): void {
  const leastHeight = 120 // the title and the status
  if (section !== null && section.getBoundingClientRect().top > innerHeight - leastHeight) section.scrollIntoView()
}

/** Calls a method and shows the response as text. */
export function TryMethod(props: TryMethodProps) {
  const { method, isOutdated = false, baseUrl, user, tokens, tokenText, intro, children, missingScope } = props
  const [typed, setTyped] = useState<RequestValues>(() => firstValues(method))
  // The method changes when a release is activated, and when `dev` reloads.
  const values = keepTyped(method, typed)
  const [wantsToken, setWantsToken] = useState(true)
  const [chosen, setChosen] = useState<Call>()
  const hasToken = user !== undefined && wantsToken
  const path = writePath(method, values)
  const request = {
    method: method.method,
    path,
    url: baseUrl + path,
    headers: writeHeaders(method, values),
    ...writeBody(method, values),
    hasToken,
  }
  const response = useRef<HTMLElement>(null)
  const abort = useRef(new AbortController())
  const hasBegun = useRef(false)
  const isGone = useRef(false)
  const sending = useMutation({
    mutationFn: () => {
      abort.current = new AbortController()
      hasBegun.current = false
      const onProgress = (part: Call) => {
        hasBegun.current = true
        if (isGone.current) abort.current.abort()
        else setChosen(part)
      }
      return sendCall(request, hasToken ? tokens : undefined, { signal: abort.current.signal, onProgress })
    },
    onSuccess(done) {
      setChosen(done)
      requestAnimationFrame(() => showBelow(response.current))
    },
  })
  // Without the page, what has not been answered yet is waited for, and is then one of the last calls. A response that is
  // still arriving is ended, because a stream may be endless.
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
      if (hasBegun.current) abort.current.abort()
    }
  }, [])
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault()
    if (!sending.isPending && !isOutdated && !hasDots(method, values)) sending.mutate()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    event.currentTarget.requestSubmit()
  }
  return (
    <div className="two">
      <div className="stack">
        {intro}
        <form className="stack" onSubmit={submit} onKeyDown={onKeyDown}>
          <RequestFields method={method} values={values} onChange={setTyped} />
          <div className="stack-small">
            {user === undefined ? null : (
              <NativeSelect
                label={texts.token}
                description={method.public ? texts.publicText : tokenText}
                value={hasToken ? 'mine' : ''}
                data={[
                  { value: 'mine', label: texts.mine(user) },
                  { value: '', label: texts.noToken },
                ]}
                onChange={(event) => setWantsToken(event.currentTarget.value !== '')}
              />
            )}
            {children}
          </div>
          <div className="try-actions">
            <Button
              type="submit"
              loading={sending.isPending || isOutdated}
              aria-keyshortcuts="Control+Enter Meta+Enter"
            >
              {texts.send}
            </Button>
            {sending.isPending ? (
              <Button variant="default" onClick={() => abort.current.abort()}>
                {texts.stop}
              </Button>
            ) : null}
            <code translate="no" className="try-url" dir="ltr">
              {request.method} {request.url}
            </code>
          </div>
          <details>
            <summary>{texts.code}</summary>
            <CodeOfRequest request={{ ...request, hasToken: hasToken || (user === undefined && !method.public) }} />
          </details>
        </form>
      </div>
      <div className="stack">
        {sending.isError ? <ProblemAlert error={sending.error} /> : null}
        <section ref={response} aria-live="polite" aria-busy={sending.isPending}>
          <h2>{texts.response}</h2>
          {chosen === undefined ? <p className="soft">{texts.noResponse}</p> : <ResponseView call={chosen} />}
        </section>
        {chosen !== undefined && lacksScope(chosen) && hasToken ? missingScope(() => sending.mutate()) : null}
        <History chosen={chosen} onChoose={setChosen} />
      </div>
    </div>
  )
}
