import type { DatabaseKind } from '../../src/contract/index.ts'
import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { adminRoutes } from '../../src/backend/api/routes.ts'
import type { AdminRoute } from '../../src/backend/api/route.ts'
import { addUser } from '../../src/auth/index.ts'
import { issueHostToken } from '../../src/operate/index.ts'
import { openWorld, password, type World } from '../auth/world.ts'
import { asCommand, bearer, type TestAnswer } from '../support/server.ts'

export const allScopes = [
  'backend.read',
  'backend.operate',
  'backend.write',
  'backend.data',
  'backend.deploy',
  'backend.admin',
] as const

/** Calls the admin API: `GET /server`. Checks each successful answer against the schema of its route. */
export type AdminCall = (
  line: string,
  request?: { readonly json?: unknown; readonly headers?: Readonly<Record<string, string>> },
) => Promise<TestAnswer>

export interface AdminWorld extends World {
  /** Has all scopes of administration. */
  readonly call: AdminCall
  /** Calls with a token that has these scopes; without any, with no token. */
  as(...scopes: readonly string[]): Promise<AdminCall>
}

/** A server with the administrator root, besides the users and clients of `openWorld`. */
export async function openAdmin(
  kind: DatabaseKind,
  options: Parameters<typeof openWorld>[1] = {},
): Promise<AdminWorld> {
  const variables = { WAYPOST_BACKEND_DATA: 'on', ...options.variables }
  const world = await openWorld(kind, { ...options, variables })
  await addUser(world.system, { name: 'root', password, scopes: [...allScopes, 'todo', 'consumer'] })
  const as = async (...scopes: readonly string[]): Promise<AdminCall> => {
    const token =
      scopes.length === 0
        ? undefined
        : (await issueHostToken(asCommand(world.host), { user: 'root', scopes, expires: undefined })).access_token
    return async (line, { json, headers } = {}) => {
      const [method = '', target = ''] = line.split(' ')
      const answer = await world.send(`${method} /backend${target}`, {
        headers: { ...(token === undefined ? {} : bearer(token)), ...headers },
        ...(json === undefined ? {} : { json }),
      })
      if (answer.status < 300) assertDescribed(method, target, answer)
      return answer
    }
  }
  return { ...world, as, call: await as(...allScopes) }
}

const ajv = new Ajv2020({ strict: true, allErrors: true })
addFormats.default(ajv)

/** Checks a successful answer against the schema of its route. */
export function assertDescribed(
  method: string,
  target: string,
  { status, body, text }: Pick<TestAnswer, 'status' | 'body' | 'text'>,
): void {
  const route = findRoute(method, target)
  if (route === undefined) return
  const hasFile = route.lines !== undefined || route.csv === 'response'
  assert.equal(status, route.response === undefined && !hasFile ? 204 : (route.status ?? 200), text)
  for (const line of route.lines === undefined ? [] : text.trim().split('\n'))
    assert.ok(ajv.validate(route.lines!, JSON.parse(line)), `${method} ${target}: ${ajv.errorsText()}\n${line}`)
  if (hasFile) return
  if (route.response === undefined) return assert.equal(text, '')
  assert.ok(ajv.validate(route.response, body), `${method} ${target}: ${ajv.errorsText()}\n${text}`)
}

function findRoute(method: string, target: string): AdminRoute | undefined {
  const parts = target.split('?')[0]!.split('/')
  const fits = (path: string) => {
    const wanted = path.split('/')
    return (
      wanted.length === parts.length && wanted.every((part, index) => part.startsWith(':') || part === parts[index])
    )
  }
  const candidates = adminRoutes.filter((route) => route.method === method && fits(route.path))
  return candidates.toSorted((a, b) => a.path.split(':').length - b.path.split(':').length)[0]
}
