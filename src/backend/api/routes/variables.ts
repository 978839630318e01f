import { Type } from 'typebox'
import { listHostVariables, setHostVariable, unsetHostVariable, type ListedVariable } from '../../../operate/index.ts'
import { defineRoute } from '../route.ts'
import { formatTime } from '../../../kit/index.ts'
import { maybeText, record, text, time } from '../shapes.ts'

const source = Type.String({ description: '`environment`, `System`, or a file such as `.env` or `.env.local`' })

// Never add the value: no scope allows to read it.
const variable = record({
  name: text,
  description: maybeText,
  type: maybeText,
  /** Where it is set, as seen from this server. The first one takes precedence. */
  set: Type.Array(source),
  /** The servers on whose hosts it is set, which takes precedence over System there. */
  set_on: Type.Array(text),
  /** Where the active release uses it: `actions`, `connection Orders`. */
  uses: Type.Array(text),
  /** Whether the active release has no default for it. */
  required: Type.Boolean(),
  /** Whether it is required and a server does not have it. */
  missing: Type.Boolean(),
  /** Whether it would be missing without the value in System. */
  needed: Type.Boolean(),
  /** The last change in System. */
  changed: Type.Union([record({ at: time, by: text }), Type.Null()]),
})

function formatVariable(one: ListedVariable) {
  const { name, description = null, type = null, set, setOn, uses, changed } = one
  const { isRequired: required, isMissing: missing, isNeeded: needed } = one
  const last = changed === undefined ? null : { at: formatTime(changed.at), by: changed.by }
  return { name, description, type, set, set_on: setOn, uses, required, missing, needed, changed: last }
}

const params = record({ name: Type.String({ maxLength: 1000 }) })

const list = defineRoute({
  name: 'listVariables',
  summary: 'Variables in System and of the active release, by name, without values',
  method: 'GET',
  path: '/variable',
  scopes: ['backend.read'],
  response: record({ entry: Type.Array(variable) }),
  async handle({ host }) {
    return { entry: (await listHostVariables(host)).map(formatVariable) }
  },
})

const set = defineRoute({
  name: 'setVariable',
  summary: 'Sets a variable in System; all servers apply it immediately',
  method: 'PUT',
  path: '/variable/:name',
  scopes: ['backend.deploy'],
  params,
  body: record({ value: Type.String({ maxLength: 65_536 }) }),
  response: variable,
  fields: {
    WP_SERVER_VARIABLE_NAME: 'params/name',
    WP_SERVER_VARIABLE_RESERVED: 'params/name',
    WP_SERVER_VARIABLE_VALUE: 'body/value',
  },
  async handle({ acting, params: { name }, body: { value } }) {
    return formatVariable(await setHostVariable(await acting(), { name, value }))
  },
})

const unset = defineRoute({
  name: 'unsetVariable',
  summary: 'Removes a variable from System',
  method: 'DELETE',
  path: '/variable/:name',
  scopes: ['backend.deploy'],
  params,
  query: record({
    /** `true`: also if the active release requires it and a server does not set it itself. */
    force: Type.Optional(Type.Literal('true')),
  }),
  async handle({ acting, params: { name }, query: { force } }) {
    await unsetHostVariable(await acting(), { name, isForced: force === 'true' })
  },
})

export const variableRoutes = [list, set, unset] as const
