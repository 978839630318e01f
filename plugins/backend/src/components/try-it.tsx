import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type KeyboardEvent } from 'react'
import { call, type Answer } from '../api/call.ts'
import { send, sendForAnswer } from '../api/send.ts'
import { issuer } from '../config.ts'
import { sessionStore } from '../session/session.ts'
import { makeStore, useStore } from '../session/store.ts'
import { build } from '../strings/build.ts'
import { announce } from './announce.tsx'
import { MethodBadge, State } from './badge.tsx'
import { CommandHint, CopyButton } from './copy.tsx'
import { ProblemAlert } from './problem.tsx'
import { RelativeTime } from './time.tsx'

const { tryIt: texts } = build
type Method = Answer<'GET /release/:id/method'>

/** A call and its answer. */
interface Call {
  readonly method: string
  readonly url: string
  readonly at: number
  readonly ms: number
  readonly answer:
    | {
        readonly status: number
        readonly headers: readonly (readonly [name: string, value: string])[]
        readonly text: string
        readonly bytes: number
        readonly isCut: boolean
      }
    | { readonly problem: string }
}

const maxCalls = 10
/** The last calls, of all routes. In memory only, because answers may contain personal data. */
const calls = makeStore<readonly Call[]>([])

/** A token without scopes of administration: routes are project code, which must never see a token of the session. */
let token: { readonly text: string; readonly scopes: readonly string[]; readonly expiresAt: number } | undefined
const renewalMs = 30_000

async function loadToken(): Promise<NonNullable<typeof token>> {
  if (token === undefined || token.expiresAt - renewalMs < Date.now()) {
    const { access_token: text, expires_in: seconds, scopes } = await call('POST /token/try', {})
    token = { text, scopes, expiresAt: Date.now() + seconds * 1000 }
  }
  return token
}

interface Parameter {
  readonly name: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly isRequired: boolean
}

function parametersOf(schema: unknown, named: Method['schemas']): readonly Parameter[] {
  const own = resolve(schema, named)
  const required = new Set((own['required'] ?? []) as readonly string[])
  return Object.entries((own['properties'] as Readonly<Record<string, unknown>> | undefined) ?? {}).map(
    ([name, value]) => {
      return { name, schema: resolve(value, named), isRequired: required.has(name) }
    },
  )
}

function resolve(schema: unknown, named: Method['schemas']): Readonly<Record<string, unknown>> {
  if (typeof schema !== 'object' || schema === null) return {}
  const reference = (schema as Record<string, unknown>)['$ref']
  if (typeof reference !== 'string') return schema as Readonly<Record<string, unknown>>
  return (named[decodeURIComponent(reference.replace('schema:///', ''))] ?? {}) as Readonly<Record<string, unknown>>
}

const maxMain = 6

/** Parameters that are often used, and others: a list of rows has five filters for each number. */
function splitParameters(all: readonly Parameter[]): readonly [main: readonly Parameter[], more: readonly Parameter[]] {
  const names = new Set(all.map(({ name }) => name))
  const isVariant = (name: string) => names.has(name.slice(0, Math.max(0, name.lastIndexOf('.'))))
  const common = new Set(all.filter(({ name }) => !isVariant(name)).slice(0, maxMain))
  const main = all.filter((one) => one.isRequired || common.has(one))
  return [main, all.filter((one) => !main.includes(one))]
}

interface Request {
  readonly method: string
  readonly url: string
  readonly body: string | undefined
  readonly hasToken: boolean
}

/** Calls a method of the served release, and shows the answer as text. */
export function TryIt({ method }: { readonly method: Method }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(method.method)
  const example = JSON.stringify(method.example ?? {}, null, 2)
  const [body, setBody] = useState(example)
  const [hasToken, setHasToken] = useState(true)
  const [chosen, setChosen] = useState<Call>()
  const path = parametersOf(method.params, method.schemas)
  const query = parametersOf(method.query, method.schemas)
  const [main, more] = splitParameters(query)
  const request: Request = {
    method: method.method,
    url: writeUrl(method.path, { values, path, query }),
    body: hasBody ? body : undefined,
    hasToken,
  }
  const sending = useMutation({
    mutationFn: () => sendCall(request),
    onSuccess: (done) => {
      calls.set([done, ...calls.get()].slice(0, maxCalls))
      setChosen(done)
    },
  })
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault()
    if (!sending.isPending) sending.mutate()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    event.currentTarget.requestSubmit()
  }
  const fields = (parameters: readonly Parameter[], kind: string) =>
    parameters.map((parameter) => (
      <Field
        key={`${kind} ${parameter.name}`}
        {...parameter}
        value={values[`${kind} ${parameter.name}`] ?? ''}
        onChange={(value) => setValues({ ...values, [`${kind} ${parameter.name}`]: value })}
      />
    ))
  return (
    <div className="two">
      <form className="stack" onSubmit={submit} onKeyDown={onKeyDown}>
        {fields(path, 'path')}
        {fields(main, 'query')}
        {more.length === 0 ? null : (
          <details>
            <summary>{texts.more(more.length)}</summary>
            <div className="stack try-more">{fields(more, 'query')}</div>
          </details>
        )}
        {hasBody ? (
          <div>
            <Textarea
              label={texts.body}
              value={body}
              onChange={(event) => setBody(event.currentTarget.value)}
              error={findJsonProblem(body)}
              autosize
              minRows={3}
              maxRows={20}
              spellCheck={false}
              classNames={{ input: 'mono' }}
            />
            {body === example ? null : (
              <button type="button" className="text-button" onClick={() => setBody(example)}>
                {texts.reset}
              </button>
            )}
          </div>
        ) : null}
        <TokenChoice method={method} hasToken={hasToken} onChange={setHasToken} />
        <div className="try-actions">
          <Button type="submit" loading={sending.isPending} aria-keyshortcuts="Control+Enter Meta+Enter">
            {texts.send}
          </Button>
          <code className="try-url" dir="ltr">
            {request.method} {request.url}
          </code>
        </div>
        <Curl request={request} />
      </form>
      <div className="stack">
        {sending.isError ? <ProblemAlert error={sending.error} /> : null}
        <section aria-live="polite" aria-busy={sending.isPending}>
          <h2>{texts.answer}</h2>
          {chosen === undefined ? <p className="soft">{texts.noAnswer}</p> : <AnswerView call={chosen} />}
        </section>
        {chosen === undefined || !lacksScope(chosen) || !hasToken ? null : (
          <MissingScope scopes={method.scopes} onGranted={() => sending.mutate()} />
        )}
        <History chosen={chosen} onChoose={setChosen} />
      </div>
    </div>
  )
}

interface FieldProps extends Parameter {
  readonly value: string
  onChange(value: string): void
}

function Field({ name, schema, isRequired, value, onChange }: FieldProps) {
  const options = schema['type'] === 'boolean' ? ['true', 'false'] : (schema['enum'] as readonly unknown[] | undefined)
  const common = {
    label: name,
    required: isRequired,
    value,
    ...(typeof schema['description'] === 'string' ? { description: schema['description'] } : {}),
  }
  if (options !== undefined) {
    return (
      <NativeSelect
        {...common}
        data={['', ...options.map(String)]}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  const initial = schema['default'] ?? (schema['examples'] as readonly unknown[] | undefined)?.[0]
  return (
    <TextInput
      {...common}
      placeholder={initial === undefined ? '' : writeExample(initial)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function writeExample(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

interface TokenChoiceProps {
  readonly method: Method
  readonly hasToken: boolean
  onChange(hasToken: boolean): void
}

function TokenChoice({ method, hasToken, onChange }: TokenChoiceProps) {
  const user = useStore(sessionStore)?.user.name ?? ''
  return (
    <div className="stack-small">
      <NativeSelect
        label={texts.token}
        description={method.public ? texts.publicText : texts.tokenText}
        value={hasToken ? 'mine' : ''}
        data={[
          { value: 'mine', label: texts.mine(user) },
          { value: '', label: texts.noToken },
        ]}
        onChange={(event) => onChange(event.currentTarget.value !== '')}
      />
      <CommandHint label={texts.otherUser} command="waypost token:issue --user NAME" />
    </div>
  )
}

interface UrlParts {
  readonly values: Readonly<Record<string, string>>
  readonly path: readonly Parameter[]
  readonly query: readonly Parameter[]
}

function writeUrl(pattern: string, { values, query }: UrlParts): string {
  const path = pattern.replaceAll(/:(\w+)/g, (whole, name: string) => {
    const value = values[`path ${name}`] ?? ''
    return value === '' ? whole : encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const { name } of query) {
    const value = values[`query ${name}`] ?? ''
    if (value !== '') search.append(name, value)
  }
  const text = search.toString()
  return `${issuer}${path}${text === '' ? '' : `?${text}`}`
}

function findJsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const maxBytes = 256 * 1024

async function sendCall({ method, url, body, hasToken }: Request): Promise<Call> {
  const headers = {
    ...(hasToken ? { authorization: `Bearer ${(await loadToken()).text}` } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const at = Date.now()
  const startedAt = performance.now()
  const done = (answer: Call['answer']): Call => ({ method, url, at, ms: performance.now() - startedAt, answer })
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      credentials: 'omit',
      redirect: 'manual', // the token must not follow
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    })
    if (response.type === 'opaqueredirect') return done({ problem: texts.redirect })
    const { text, bytes, isCut } = await readText(response)
    return done({ status: response.status, headers: [...response.headers], text, bytes, isCut })
  } catch (error) {
    return done({ problem: error instanceof TypeError ? texts.network : String(error) })
  }
}

/** Reads the beginning of a body. Answers may be endless. */
async function readText(response: Response): Promise<{ text: string; bytes: number; isCut: boolean }> {
  const reader = response.body?.getReader()
  if (reader === undefined) return { text: '', bytes: 0, isCut: false }
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), bytes, isCut: false }
    bytes += value.length
    text += decoder.decode(value, { stream: true })
    if (bytes < maxBytes) continue
    await reader.cancel()
    return { text, bytes, isCut: true }
  }
}

/** An answer as text. It is never rendered: it comes from project code. */
function AnswerView({ call: { method, url, ms, answer } }: { readonly call: Call }) {
  if ('problem' in answer) return <ProblemAlert error={new Error(answer.problem)} />
  const { status, headers, text, bytes, isCut } = answer
  return (
    <div className="stack">
      <p className="try-status">
        <State tone={status < 300 ? 'good' : status < 400 ? 'quiet' : status < 500 ? 'warn' : 'bad'}>
          {String(status)}
        </State>
        <span>{build.ms(ms)}</span>
        <span className="soft">{texts.bytes(bytes)}</span>
        {text === '' ? null : <CopyButton value={text} label={texts.answer} />}
        <code className="soft try-url" dir="ltr">
          {method} {url}
        </code>
      </p>
      {text === '' ? (
        <p className="soft">{texts.empty}</p>
      ) : (
        <pre className="code wrap" tabIndex={0} role="region" aria-label={texts.answer} dir="auto">
          {format(text)}
        </pre>
      )}
      {isCut ? <p className="soft">{texts.cut}</p> : null}
      <details>
        <summary>{texts.headers(headers.length)}</summary>
        <dl className="facts headers">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt className="mono">{name}</dt>
              <dd className="mono" dir="auto">
                {value}
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  )
}

function format(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Whether the token of a call had none of the scopes that the method needs. */
function lacksScope({ answer }: Call): boolean {
  return 'status' in answer && answer.status === 403 && /#WP_AUTH_(USER_)?SCOPE"/.test(answer.text)
}

/** Offers to add a scope to the user, who may do so as an administrator. */
function MissingScope({ scopes, onGranted }: { readonly scopes: readonly string[]; onGranted(): void }) {
  const session = useStore(sessionStore)
  const user = session?.user.name ?? ''
  const granting = useMutation({
    mutationFn: async (scope: string) => {
      const path = `user/${encodeURIComponent(user)}`
      const { data, etag } = await sendForAnswer<{ readonly scopes: readonly string[] }>('GET', path)
      await send('PATCH', path, { body: { scopes: [...data.scopes, scope] }, ifMatch: etag })
      token = undefined
      return scope
    },
    onSuccess: (scope) => {
      announce(texts.granted(user, scope))
      onGranted()
    },
  })
  const project = scopes.filter((scope) => !scope.startsWith('backend.'))
  if (session?.scopes.includes('backend.admin') !== true || project.length === 0)
    return <p className="note">{texts.ask(scopes.join(` ${build.access.or} `))}</p>
  return (
    <div className="note stack">
      <p>{texts.lacks(user, scopes.join(` ${build.access.or} `))}</p>
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

function Curl({ request }: { readonly request: Request }) {
  const command = writeCurl(request)
  return (
    <details>
      <summary>{texts.curl}</summary>
      <div className="curl">
        <pre className="code wrap" tabIndex={0} role="region" aria-label={texts.curl} dir="ltr">
          {command}
        </pre>
        <CopyButton value={command} label={texts.curl} />
      </div>
    </details>
  )
}

function writeCurl({ method, url, body, hasToken }: Request): string {
  const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(url)}`,
    ...(hasToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quote(body)}`]),
  ].join(' \\\n  ')
}

interface HistoryProps {
  readonly chosen: Call | undefined
  onChoose(chosen: Call): void
}

function History({ chosen, onChoose }: HistoryProps) {
  const all = useStore(calls)
  if (all.length === 0) return null
  return (
    <section>
      <h2>{texts.history}</h2>
      <ul className="history">
        {all.map((one) => (
          <li key={`${one.at} ${one.url}`}>
            <button type="button" aria-pressed={one === chosen} onClick={() => onChoose(one)}>
              <MethodBadge method={one.method} />
              <span className="mono history-path">{one.url.slice(issuer.length)}</span>
              <span>{'status' in one.answer ? one.answer.status : texts.failed}</span>
            </button>
            <RelativeTime value={one.at} />
          </li>
        ))}
      </ul>
    </section>
  )
}
