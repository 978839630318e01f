import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { TestAnswer } from '../support/server.ts'
import { openPeople, type People } from './people.ts'
import { isLong } from '../support/forms.ts'
import { lacksShell } from '../support/shell.ts'

const run = promisify(execFile)
const page = readFileSync(path.join(import.meta.dirname, '../../docs/consumer.md'), 'utf8')
const calls = [...page.matchAll(/```sh\n(.+?)```\n```http\n(\d+)\n(.*?)```/gs)].map(
  ([, command = '', status = '', body = '']) => ({ command, status: Number(status), body: parse(body) }),
)

const todo = {
  type: 'object',
  required: ['id', 'title'],
  properties: { id: { type: 'integer' }, title: { type: 'string' } },
}

describe('docs/consumer.md', { skip: lacksShell }, () => {
  let people: People
  const variables: Record<string, string> = {}
  before(async () => {
    people = await openPeople('sqlite', {
      config: { registration: true },
      scopes: { todo: { description: 'Read and change to-dos' } },
      schemas: { Todo: todo },
      events: {
        todo_created: { description: 'A to-do was created', schema: { $ref: 'schema:///Todo' }, scopes: ['todo'] },
      },
    })
    const album = await people.addClient({ name: 'Photo album', user: 'bob', scopes: ['todo'] })
    await people.system.db.deleteFrom('waypost_client').where('user_id', '=', people.annId).execute()
    await people.system.db
      .insertInto('waypost_consent')
      .values({ user_id: people.annId, client_id: album.id, scope: 'todo', granted_at: people.clock.now() })
      .execute()
    variables['URL'] = people.url
  })
  after(() => people.close())

  test('shows every call', () => assert.equal(calls.length, 20))

  for (const [index, { command, status, body }] of calls.entries()) {
    test(`shows the response to ${command.replaceAll(/\\\n\s*/g, '').slice(0, 90)}`, async () => {
      // Outside of the long form a real curl sends the first ones only.
      const [code, text] = await (isLong || index < 2 ? sendByCurl(command) : sendAsCurl(command))
      assert.equal(code, status, text)
      const answer = parse(text)
      assert.deepEqual(generalize(answer), generalize(body))
      keep(command, answer)
    })
  }

  async function sendByCurl(command: string): Promise<[code: number, text: string]> {
    const shell = `curl() { command curl -s -w '\\n%{http_code}' "$@"; }\n${command}`
    const { stdout } = await run('bash', ['-c', shell], { env: { PATH: process.env['PATH'], ...variables } })
    const [, text = '', code] = /^(.*)\n(\d+)$/s.exec(stdout)!
    return [Number(code), text]
  }

  /** Knows the quotes and the options of the page. */
  async function sendAsCurl(command: string): Promise<[code: number, text: string]> {
    const fill = (text: string) =>
      text.replaceAll(/\$(\w+)/g, (_, name: string) => variables[name]!).replaceAll(/\\(.)/g, '$1')
    const parts = command.replaceAll(/\\\n/g, '').matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)
    const [program, ...words] = [...parts].map(([, double, single, plain]) =>
      double === undefined ? (single ?? plain!) : fill(double),
    )
    assert.equal(program, 'curl')
    const headers = new Headers()
    let [url, method, body]: (string | undefined)[] = []
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!
      if (word === '-X') method = words[++at]
      else if (word === '-H') headers.append(...(words[++at]!.split(': ') as [string, string]))
      else if (word === '--json') body = words[++at]
      else {
        assert.ok(url === undefined && !word.startsWith('-'), word)
        url = word
      }
    }
    if (body !== undefined) headers.set('content-type', 'application/json')
    const response = await fetch(url!, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      ...(body === undefined ? {} : { body }),
    })
    return [response.status, await response.text()]
  }

  /** The placeholders that the page names. */
  function keep(command: string, answer: TestAnswer['body']): void {
    if (answer?.token !== undefined) {
      Object.assign(variables, { TOKEN: answer.token, REFRESH_TOKEN: answer.refresh_token })
    }
    if (answer?.secret !== undefined) variables['CLIENT'] = answer.id
    if (command.includes('/consumer/grant')) variables['GRANTED'] ??= answer.entry[0].client.id
    if (command.includes('/consumer/token')) variables['JTI'] ??= answer.entry[0].jti
  }
})

function parse(text: string): TestAnswer['body'] {
  return text.trim() === '' ? undefined : JSON.parse(text)
}

/** The same with variable parts replaced by their kind. */
function generalize(value: unknown, name = ''): unknown {
  if (name === 'last_used') return 'a time, or null'
  if (Array.isArray(value)) return name === 'entry' ? [generalize(value[0])] : value
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, generalize(one, key)]))
  }
  if (typeof value !== 'string') return value
  if (/^[0-9a-f-]{36}$/.test(value)) return 'an id'
  if (/^\d{4}-\d\d-\d\dT.+Z$/.test(value)) return 'a time'
  if (/^[\w-]{43}$/.test(value)) return 'a secret'
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? 'a token' : value
}
