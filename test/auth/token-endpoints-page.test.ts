import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { cleanEnvironment } from '../support/cli.ts'
import { openWorld, type World } from './world.ts'
import { lacksShell } from '../support/shell.ts'

const run = promisify(execFile)
const page = readFileSync(path.join(import.meta.dirname, '../../docs/token-endpoints.md'), 'utf8')
const calls = [...page.matchAll(/```sh\n(.+?)```\n```http\n(\d+)\n(.*?)```/gs)].map(
  ([, command = '', status = '', body = '']) => ({ command, status, body: JSON.parse(body) as unknown }),
)

describe('docs/token-endpoints.md', { skip: lacksShell }, () => {
  let world: World
  const variables: Record<string, string> = {}
  before(async () => {
    world = await openWorld('sqlite', { scopes: { note: {}, todo: {} } })
    const { id, secret } = await world.addClient({ grants: ['client_credentials', 'refresh_token', 'password'] })
    Object.assign(variables, { URL: world.url, CLIENT_ID: id, CLIENT_SECRET: secret })
  })
  after(() => world.close())

  test('shows every call', () => assert.equal(calls.length, 10))

  for (const { command, status, body } of calls) {
    test(`shows the response to ${command.replaceAll(/\\\n\s*/g, '').trim()}`, async () => {
      const shell = `curl() { command curl -s -w '\\n%{http_code}' "$@"; }\n${command}`
      const { stdout } = await run('bash', ['-c', shell], { env: cleanEnvironment(variables) })
      const [, text = '', code] = /^(.*)\n(\d+)$/s.exec(stdout)!
      assert.equal(code, status, text)
      const answer = JSON.parse(text)
      assert.deepEqual(generalize(answer), generalize(body))
      assert.deepEqual(Object.keys(answer), Object.keys(body as object))
      if (answer.access_token !== undefined) {
        Object.assign(variables, { TOKEN: answer.access_token, REFRESH_TOKEN: answer.refresh_token })
      }
    })
  }
})

/** The same with variable parts replaced by their kind. */
function generalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => generalize(one))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, generalize(one)]))
  }
  if (typeof value === 'number') return value > 1e9 ? 'a time' : value
  if (typeof value !== 'string') return value
  if (/^[0-9a-f-]{36}$/.test(value)) return 'an id'
  if (/^\d{4}-\d\d-\d\dT.+Z$/.test(value)) return 'a time'
  if (/^[\w-]{43}$/.test(value)) return 'a secret'
  if (/^key_[0-9A-Z]+$/.test(value)) return 'a key'
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? 'a token' : value
}
