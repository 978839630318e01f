import { Type } from 'typebox'
import { backendScopes } from '../../../auth/index.ts'
import { version } from '../../../kit/index.ts'
import { defineRoute } from '../route.ts'
import { record, text } from '../shapes.ts'

const account = defineRoute({
  name: 'getAccount',
  summary: 'The caller and this server',
  method: 'GET',
  path: '/account',
  scopes: backendScopes,
  response: record({
    user: record({ id: text, name: text }),
    scopes: Type.Array(text),
    server: record({
      version: text,
      /** The setting `title`; may be empty. */
      service: text,
    }),
  }),
  async handle({ principal, terms }) {
    const { user, scopes } = principal
    return { user, scopes: [...scopes], server: { version, service: terms().settings.title } }
  },
})

export const accountRoutes = [account] as const
